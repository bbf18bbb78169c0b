import Foundation
import JSONCoding
import Lab
import Processes
import Reactor
import Testing

/// What `onionbell doctor` says of Web Push's key and of the phone's page.
@EventLoop
@Suite(.serialized) struct DoctorPhonePageTests {
    /// The findings of these checks, each as `verdict check: words`.
    private func findings(_ configuration: String, trusting authorities: String) async throws -> [String] {
        // Not on the event loop, which the simulators need.
        let result = try await Task.detached {
            try run(
                [program, "doctor", "--json", "--socks", "127.0.0.1:1", "--config", configuration],
                environment: ["SSL_CERT_FILE": authorities])
        }.value
        return try #require(try JSON(Array(result.output.utf8)).array).compactMap { finding in
            let texts = ["verdict", "check", "words"].compactMap { finding[$0]?.string }
            let isOurs = texts[1].hasPrefix("phone_page") || texts[1] == "vapid_key"
            return isOurs ? "\(texts[0]) \(texts[1]): \(texts[2])" : nil
        }
    }

    @Test func thePageIsLoadedAsPhonesLoadIt() async throws {
        let (https, http) = (try freePort(), try freePort())
        let url = "https://localhost:\(https)/phone/"
        let stage = try LoopbackStage(withWebPush: true) {
            $0 + """
                doors:
                  https: {certificate_file: server.pem, key_file: server-key.pem}
                  phone_page: {listen: ["https://127.0.0.1:\(https)", "127.0.0.1:\(http)"], url: "\(url)"}

                """
        }
        let path = stage.world.directory.path
        let server = try stage.world.credentials.authority.server(names: ["localhost"])
        try LabDirectory.write(try server.chainPEM(), to: path + "/server.pem")
        try LabDirectory.write(try server.keyPEM().bytes, to: path + "/server-key.pem")
        #expect(
            try await findings(stage.configuration, trusting: path + "/ca.pem").map { $0.prefix(14) }
                == ["warn vapid_key"], "no key, no page")
        try await stage.start()
        let key = String(
            try run([program, "key", "show", "--vapid", "--config", stage.configuration]).output.prefix(12))
        #expect(
            try await findings(stage.configuration, trusting: path + "/ca.pem") == [
                "pass vapid_key: the node's key for push services is \(key)..., its contact mailto:onionbell@example.org",
                "pass phone_page: https://127.0.0.1:\(https) serves the page for this node",
                "pass phone_page: 127.0.0.1:\(http) serves the page for this node",
                "pass phone_page.url: \(url) serves the page for this node",
            ])
        // A certificate that no browser would take.
        #expect(
            try await findings(stage.configuration, trusting: "/dev/null").map { $0.prefix(20) } == [
                "pass vapid_key: the ", "fail phone_page: htt", "pass phone_page: 127",
                "fail phone_page.url:",
            ])
        // Another page behind the address.
        let text = try String(contentsOfFile: stage.configuration, encoding: .utf8)
        let elsewhere = path + "/elsewhere.yaml"
        try text.replacing("/phone/\"}", with: "/other/\"}").write(
            toFile: elsewhere, atomically: true, encoding: .utf8)
        let others = try await findings(elsewhere, trusting: path + "/ca.pem")
        #expect(
            others.last?.contains(
                "fail phone_page.url: https://localhost:\(https)/other/: the page answers with status 404")
                == true, "\(others)")
        await stage.close()
    }
}
