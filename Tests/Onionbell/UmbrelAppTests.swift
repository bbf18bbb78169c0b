import Encodings
import Foundation
import Processes
import Testing
import YAML

/// The app for Umbrel, by the fields of umbreld's `AppManifest` (`packages/umbreld/source/modules/apps/schema.ts`) and the bounds
/// that its store's linter sets. Umbrel publishes no schema that a program could read.
@Suite struct UmbrelAppTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy/platforms/umbrel").standardized

    private static func file(_ name: String) throws -> YAMLNode {
        try #require(try YAMLNode.parse(String(contentsOf: folder.appending(path: name), encoding: .utf8)))
    }

    private static let texts = [
        "id", "name", "tagline", "category", "version", "description", "developer", "website", "submitter",
        "submission", "support", "repo", "releaseNotes", "path", "defaultUsername", "defaultPassword",
    ]
    /// Empty until its publisher fills them in.
    private static let publishers: Set<String> = [
        "developer", "website", "submitter", "submission", "support", "repo", "releaseNotes",
    ]
    private static let mayBeEmpty = publishers.union(["path", "defaultUsername", "defaultPassword"])
    private static let categories: Set<String> = [
        "files", "bitcoin", "media", "networking", "social", "automation", "finance", "ai", "developer",
        "crypto",
    ]

    @Test func theManifestHasEachFieldInItsForm() throws {
        let manifest = try Self.file("umbrel-app.yml")
        let keys = try #require(manifest.entries).map { $0.key.text ?? "" }
        #expect(
            Set(keys) == Set(Self.texts + ["manifestVersion", "port", "gallery", "dependencies", "widgets"]),
            "\(keys)")
        for key in Self.texts {
            let text = try #require(manifest[key]?.text, "\(key)")
            #expect(text.isEmpty == false || Self.mayBeEmpty.contains(key), "\(key)")
        }
        for key in ["gallery", "dependencies"] { #expect(manifest[key]?.items != nil, "\(key)") }
        let tagline = manifest["tagline"]?.text ?? ""
        #expect(tagline.count <= 100 && !tagline.hasSuffix("."))
        #expect(manifest["name"]?.text.map { $0.count <= 50 } == true)
        #expect(manifest["description"]?.text.map { $0.count <= 5000 } == true)
        #expect(manifest["category"]?.text.map(Self.categories.contains) == true)
        #expect(manifest["version"]?.text == programVersion)
        #expect(manifest["id"]?.text?.wholeMatch(of: /[a-z][a-z-]{0,63}/) != nil)
        #expect(["1", "1.1"].contains(manifest["manifestVersion"]?.text))
    }

    /// As `umbreld` answers them, before it has asked the node.
    @Test func theWidgetsExampleHasTheFormOfTheAnswer() throws {
        let widget = try #require(try Self.file("umbrel-app.yml")["widgets"]?.items?.first)
        #expect(widget["id"]?.text?.isEmpty == false && widget["type"]?.text == "four-stats")
        let example = try #require(widget["example"])
        #expect(example["type"]?.text == "four-stats" && example["link"]?.text == "")
        let items = try #require(example["items"]?.items)
        #expect(items.count == 4)
        for item in items {
            #expect(item.entries?.map { $0.key.text ?? "" } == ["title", "text", "subtext"])
        }
    }

    @Test func itsProxyLeadsToTheConsoleAndNothingElseIsOpen() throws {
        let manifest = try Self.file("umbrel-app.yml")
        let services = try #require(try Self.file("docker-compose.yml")["services"])
        let (proxy, node) = (services["app_proxy"], services["node"])
        let port = try #require(manifest["port"]?.text)
        #expect(proxy?["environment"]?["APP_PORT"]?.text == port)
        #expect(proxy?["environment"]?["APP_HOST"]?.text == "\(manifest["id"]?.text ?? "")_node_1")
        #expect(node?["user"]?.text == "1000:1000")
        #expect(node?["ports"] == nil && proxy?["ports"] == nil)
        #expect(node?["command"] == nil && node?["privileged"] == nil && node?["network_mode"] == nil)
        let address = try #require(node?["networks"]?["console"]?["ipv4_address"]?.text)
        let proxys = try #require(proxy?["networks"]?["console"]?["ipv4_address"]?.text)
        let words = try #require(node?["environment"]?["INIT"]?.text)
        #expect(words.contains("console.proxied.listen=\(address):\(port) "))
        #expect(words.contains("console.proxied.from=[\(proxys)]"))
        // umbreld asks by the service's name, in whose place it puts the container's address.
        let widget = try #require(manifest["widgets"]?.items?.first)
        let endpoint = try #require(widget["endpoint"]?.text)
        #expect(endpoint.wholeMatch(of: /node:\d+\/api\/v1\/widget\/umbrel/) != nil)
        let place = endpoint.split(separator: "/")[0].replacing("node", with: address)
        #expect(words.contains("console.widgets.listen=\(place) "))
        #expect(words.contains("console.widgets.from=[10.213.94.1]"))
        for volume in try #require(node?["volumes"]?.items) {
            #expect(volume.text?.hasPrefix("${APP_DATA_DIR}/data/") == true, "\(volume)")
        }
    }
}
