import Foundation
import Lab
import Processes
import Reactor
import Testing

/// The phone's page served by the built node, and the link that leads there.
@EventLoop
@Suite(.serialized) struct PhonePageNodeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardized.path

    private func curl(_ arguments: String...) async throws -> String {
        let result = try await Task.detached {
            try run(["curl", "-s"] + arguments)
        }.value
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    /// Byte by byte what `Deploy/phone-page --vapid KEY` writes for a static server, with the headers that a page can't have.
    @Test func itIsThePageThatDeployWrites() async throws {
        let (https, http) = (try freePort(), try freePort())
        let stage = try LoopbackStage(withWebPush: true) {
            $0 + """
                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem}
                  phone_page:
                    listen: ["https://127.0.0.1:\(https)", "127.0.0.1:\(http)"]
                    url: https://phone.example.org/phone/

                """
        }
        let path = stage.world.directory.path
        let server = try stage.world.credentials.authority.server(names: ["127.0.0.1"])
        try LabDirectory.write(try server.chainPEM(), to: path + "/server.pem")
        try LabDirectory.write(try server.keyPEM().bytes, to: path + "/server-key.pem")
        try await stage.start()
        let shown = try run([program, "key", "show", "--vapid", "--config", stage.configuration]).output
        let key = String(try #require(shown.split(separator: "\n").first))
        let folder = path + "/page"
        let written = try run([Self.root + "/Deploy/phone-page", folder, "--vapid", key])
        #expect(written.status == 0, "\(written.errors)")
        let sums = try String(contentsOfFile: folder + "/SHA256SUMS", encoding: .utf8).split(separator: "\n")
        #expect(sums.count > 30)
        let origin = "http://127.0.0.1:\(http)"
        for line in sums {
            let name = line.dropFirst(66)
            let copy = path + "/copy"
            _ = try await curl("-o", copy, "\(origin)/phone/\(name)")
            #expect(
                FileManager.default.contentsEqual(atPath: copy, andPath: "\(folder)/\(name)"), "\(name)")
        }

        let secure = try await curl(
            "--cacert", path + "/ca.pem", "-D", "-", "https://127.0.0.1:\(https)/phone/")
        for field in [
            "content-type: text/html; charset=utf-8", "cache-control: no-cache",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer", "cross-origin-opener-policy: same-origin",
            "content-security-policy: default-src 'none'; script-src 'self';", "; frame-ancestors 'none'",
        ] { #expect(secure.contains(field), "\(field)") }
        #expect(secure.contains("<title>Onionbell</title>"))
        // What is no file of the page is not framed or sniffed either.
        for arguments in [
            ["\(origin)/phone/none"], ["\(origin)/phone"], ["-X", "DELETE", "\(origin)/phone/"],
        ] {
            let bare = try await Task.detached { try run(["curl", "-s", "-D", "-"] + arguments).output }.value
            for field in ["x-content-type-options: nosniff", "; frame-ancestors 'none'"] {
                #expect(bare.contains(field), "\(arguments): \(field)")
            }
        }
        func status(_ arguments: String...) async throws -> String {
            let words =
                ["-o", "/dev/null", "--path-as-is", "-w", "%{http_code} %header{location}"] + arguments
            return try await Task.detached { try run(["curl", "-s"] + words).output }.value
        }
        #expect(try await status("\(origin)/phone") == "301 /phone/")
        #expect(try await status("--head", "\(origin)/phone/app.js") == "200 ")
        #expect(try await status("\(origin)/phone/../../etc/passwd") == "404 ")
        #expect(try await status("\(origin)/phone/screens") == "404 ")
        #expect(try await status("\(origin)/") == "404 ")
        #expect(try await status("-d", "x", "\(origin)/phone/") == "413 ")
        #expect(try await status("-X", "DELETE", "\(origin)/phone/") == "405 ")
        await stage.close()
    }

    @Test func theLinkHasTheNodesKey() async throws {
        let stage = try LoopbackStage(withWebPush: true)
        func link(_ words: String...) throws -> CommandResult {
            try run([program, "phones", "link", "--config", stage.configuration] + words)
        }
        let page = ["--page", "https://phone.example.org/p/"]
        #expect(try link().status == 64)
        #expect(try link(page[0], page[1]).status == 69, "no node has made the key yet")
        try await stage.start()
        let shown = try run([program, "key", "show", "--vapid", "--config", stage.configuration]).output
        let key = String(try #require(shown.split(separator: "\n").first))
        #expect(try link(page[0], page[1], "--text-only").output == "https://phone.example.org/p/#k=\(key)\n")
        #expect(try link(page[0], page[1]).output.split(separator: "\n").count > 20)
        for wrong in [
            "http://phone.example.org/", "https://phone.example.org", "https:///x", "https://a/?b",
            "https://a/#b",
            "https://a@b/", "https://a/ b", "ftp://a/",
        ] { #expect(try link("--page", wrong).status == 64, "\(wrong)") }
        await stage.close()
    }

    @Test func withoutAnAppForBrowsersItIsRefused() throws {
        let stage = try LoopbackStage { $0 + "doors:\n  phone_page: {listen: [\"127.0.0.1:1\"]}\n" }
        let checked = try run([program, "check-config", "--config", stage.configuration])
        #expect(checked.status == 78 && checked.errors.contains("gateway: web_push"), "\(checked.errors)")
        let onion = try LoopbackStage(withWebPush: true) {
            $0 + "doors:\n  phone_page: {listen: [onion:80]}\n"
        }
        let refused = try run([program, "check-config", "--config", onion.configuration])
        #expect(refused.status == 78 && refused.errors.contains("have no push"), "\(refused.errors)")
    }
}
