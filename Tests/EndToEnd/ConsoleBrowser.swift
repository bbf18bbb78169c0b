import Client
import Foundation
import HTTP1
import JSONCoding
import Processes
import Reactor
import Testing
import Vectors

/// What a browser sends to the console, and what somebody may send who is none.
@EventLoop
final class ConsoleBrowser {
    let port: UInt16
    var cookie: String?

    init(_ port: UInt16, cookie: String? = nil) {
        self.port = port
        self.cookie = cookie
    }

    /// - Parameter fields: In place of those that the page sends; an empty value leaves one out.
    func send(
        _ method: String, _ path: String, _ body: String? = nil, host: String? = nil,
        _ fields: [String: String] = [:]
    ) async throws -> HTTPResponse {
        let authority = "127.0.0.1:\(port)"
        var request = HTTPRequest(
            method: method, path: path, body: Array((body ?? "").utf8), isKeptAlive: false)
        var usual = ["sec-fetch-site": "same-origin"]
        if method != "GET" {
            usual["origin"] = "http://\(authority)"
            usual["onionbell-console"] = "1"
        }
        if body != nil { usual["content-type"] = "application/json" }
        if let cookie { usual["cookie"] = cookie }
        for (name, value) in usual.merging(fields, uniquingKeysWith: { $1 }) where !value.isEmpty {
            request.fields.append(name, value)
        }
        return try await HTTPExchange.answer(
            to: request, host: host ?? authority, by: .direct(.host("127.0.0.1", port: port)),
            deadline: theRun, longest: 1 << 20)
    }

    /// Enters, and has the session from then on.
    func enter(_ key: String, _ value: String) async throws -> Int {
        let answer = try await send("POST", "/api/v1/session", #"{"\#(key)":"\#(value)"}"#)
        if let set = answer.fields["set-cookie"] {
            cookie = String(set.prefix { $0 != ";" })
        }
        return answer.status
    }

    func json(_ method: String, _ path: String, _ body: String? = nil) async throws -> (Int, JSON?) {
        let answer = try await send(method, path, body)
        return (answer.status, try? JSON(answer.body))
    }
}

extension LoopbackStage {
    /// A node with a console at this port.
    convenience init(consoleAt port: UInt16, withWebPush: Bool = false, more: String = "") throws {
        try self.init(withWebPush: withWebPush) {
            $0 + "console: {listen: [\"127.0.0.1:\(port)\"]}\n" + more
        }
    }

    /// A started node with a console, and its owner who has entered.
    ///
    /// - Parameter passphrase: The one that the owner has set; `nil`: none.
    static func owned(
        withWebPush: Bool = false, more: String = "", passphrase: String? = nil
    ) async throws -> (LoopbackStage, ConsoleBrowser) {
        let port = try freePort()
        let stage = try LoopbackStage(consoleAt: port, withWebPush: withWebPush, more: more)
        try await stage.start()
        let owner = try await stage.owner(at: port)
        if let passphrase {
            let set = JSON.object(["passphrase": .string(passphrase)]).text
            #expect(try await owner.send("PUT", "/api/v1/passphrase", set).status == 204)
        }
        return (stage, owner)
    }

    /// A browser that has entered by the link in the state directory.
    func owner(at port: UInt16) async throws -> ConsoleBrowser {
        let owner = ConsoleBrowser(port)
        #expect(try await owner.enter("link", linkInFile()) == 204)
        return owner
    }

    /// The secret of the link in the state directory, as soon as there is one.
    func linkInFile() async throws -> String {
        let file = world.state + "/console-link"
        try await until { FileManager.default.fileExists(atPath: file) }
        let text = try String(contentsOfFile: file, encoding: .utf8)
        return text.split(separator: "\n").first?.components(separatedBy: "#enter=").last ?? ""
    }
}
