import Client
import Foundation
import HTTP1
import Lab
import LabParts
import Reactor
import Testing
import Tor
import Vectors
import Wire

/// Unmodified Bisqs, a node without any credentials, and Bisq's own relay: all over Tor.
@EventLoop
@Suite(.serialized) struct RelayNodeTests {
    struct Get: Decodable {
        let path_and_query: String
        let headers: [String: String]?
        let success_response: Answer?
    }
    struct Answer: Decodable {
        let status: Int
        let body: String
    }
    struct Post: Decodable {
        struct Body: Decodable, Equatable {
            let encrypted: String
            let isUrgent: Bool
            let isMutableContent: Bool?
        }
        let path: String
        let body: Body
        let success_response: Answer
    }

    private func request(_ get: Get) -> HTTPRequest {
        let parts = get.path_and_query.split(separator: "?", maxSplits: 1)
        var request = HTTPRequest(
            method: "GET", path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil)
        for (name, value) in get.headers ?? [:] { request.fields.append(name, value) }
        return request
    }

    private func request(_ post: Post) -> HTTPRequest {
        let mutable = post.body.isMutableContent.map { #","isMutableContent":\#($0)"# } ?? ""
        let text = #"{"encrypted":"\#(post.body.encrypted)","isUrgent":\#(post.body.isUrgent)\#(mutable)}"#
        var request = HTTPRequest(method: "POST", path: post.path, body: Array(text.utf8))
        request.fields.append("Content-Type", "application/json")
        return request
    }

    @Test func whatBisqSendsReachesBisqsRelay() async throws {
        let stage = try await RelayStage()
        let gets = try Vectors.bisq("relay_get", as: [Get].self).filter {
            $0.success_response != nil && $0.path_and_query.hasPrefix("/relay?isAndroid=")
                && $0.path_and_query.contains("&isProduction=")
        }
        #expect(gets.count >= 3)
        for get in gets {
            let answer = try await stage.send(request(get))
            #expect(answer.status == 200 && answer.body == Array("success".utf8))
        }
        let targets = await stage.pushes(gets.count, at: stage.first).map(\.target)
        #expect(targets.sorted() == gets.map(\.path_and_query).sorted())

        let posts = try Vectors.bisq("relay_post", as: [Post].self)
        for post in posts {
            let answer = try await stage.send(request(post))
            #expect(answer.status == 200)
            #expect(String(decoding: answer.body, as: UTF8.self) == post.success_response.body)
        }
        let pushed = await stage.pushes(posts.count, at: stage.second)
        #expect(pushed.map(\.target).sorted() == posts.map(\.path).sorted())
        #expect(
            Set(pushed.map(\.message)) == Set(posts.map(\.body.encrypted)) && pushed.count == posts.count)
        #expect(pushed.allSatisfy { $0.hops == "1" })
        await stage.close()
    }

    // MARK: Its troubles

    /// Bisq 1's request for the phone of this number.
    private func notification(_ number: Int) throws -> HTTPRequest {
        let phone = try Phone.new(.android, descriptor: "phone")
        return try BisqSender(to: phone.pairingToken).httpRequest(
            for: PhoneText(sentDate: 1, title: "\(number)", message: "", kind: .trade))
    }

    /// The relay's own outage, and a node that is killed in the middle of it.
    @Test func whatComesInAnOutageArrivesOnceWhenItIsOver() async throws {
        let stage = try await RelayStage()
        stage.first.outage = .answer(status: 503, fields: ["retry-after": "1"])
        for number in 0..<6 {
            #expect(try await stage.send(try notification(number)).body == Array("success".utf8))
        }
        await stage.node.kill()
        try await stage.startAgain()
        for number in 6..<8 {
            #expect(try await stage.send(try notification(number)).body == Array("success".utf8))
        }
        try await until { stage.first.figures.requests >= 3 }
        stage.first.outage = nil
        let pushes = await stage.pushes(8, at: stage.first)
        #expect(pushes.count == 8 && Set(pushes.map(\.message)).count == 8)
        await stage.close()
    }

    @Test func onlyAnUnclearOutcomeMakesItComeTwice() async throws {
        let stage = try await RelayStage()
        stage.first.faults = [.close(isDelivered: true), .close(isDelivered: false)]
        _ = try await stage.send(try notification(0))
        #expect(await stage.pushes(2, at: stage.first).count == 2)
        _ = try await stage.send(try notification(1))
        let pushes = await stage.pushes(3, at: stage.first)
        #expect(pushes.count == 3 && Set(pushes.map(\.message)).count == 2)
        #expect(pushes[0].target == pushes[1].target)
        await stage.close()
    }

    // MARK: Several nodes

    /// A friend's node has the credentials.
    @Test func oneNodeHandsOnToAnother() async throws {
        let friend = try await NodeTests.Stage()
        let stage = try await RelayStage(upstream: friend.address)
        let phone = try Phone.new(.android, descriptor: "phone")
        let waiter = friend.world.nextPush(to: phone)
        let request = try BisqSender(to: phone.pairingToken).httpRequest(
            for: PhoneText(sentDate: 1, title: "a", message: "b", kind: .trade))
        #expect(try await stage.send(request).body == Array("success".utf8))
        #expect(await waiter.wait(for: theRun) != nil)
        #expect(friend.world.google.book.count == 1)
        await stage.close()
        await friend.close()
    }

    /// It would hand it on in turn, in the end to the first one, which would take it for a repetition.
    @Test func whatWasHandedOnIsNotHandedOnAgain() async throws {
        let friend = try await RelayStage()
        let stage = try await RelayStage(upstream: friend.address)
        #expect(try await stage.send(try notification(0)).body == Array("success".utf8))
        let node = stage.node
        await node.wait { node in
            node.exit != nil || node.lines.contains { $0.contains("gateway.blocked") && $0.contains("Loop") }
        }
        #expect(node.exit == nil)
        #expect(friend.first.book.isEmpty && friend.first.figures.requests == 0)
        await stage.close()
        await friend.close()
    }

    @Test func theNodesOwnAddressIsRefused() async throws {
        let directory = try LabDirectory()
        let key = OnionKey.generate()
        _ = try directory.make("state")
        try OnionKeyFile(path: directory.path + "/state/onion-key").create(key)
        let path = directory.path + "/onionbell.yaml"
        let text = """
            state_directory: \(directory.path)/state
            apps: [{name: a, gateway: relay, form: bisq1, url: "http://\(key.address)"}]
            management: {listen: "unix:\(directory.path)/management"}
            """
        try LabDirectory.write(Array(text.utf8), to: path)
        let node = try LabNode(nodeProgram, configuration: path)
        await node.wait { $0.exit != nil }
        let (exit, lines) = (node.exit, node.lines)
        #expect(exit == .exited(78), "\(lines)")
        #expect(lines.contains { $0.contains("apps[0].url: \(key.address) is this node's own address") })
        await directory.remove()
    }

    // MARK: The operator

    @Test func doctorAndWatchSeeTheOtherRelay() async throws {
        let stage = try await RelayStage(apps: { upstream in
            """
              - {name: bisq1, gateway: relay, form: bisq1, url: "http://\(upstream)"}
              - {name: bisq2, gateway: relay, form: bisq2, url: "http://\(upstream):8021"}
            """
        })
        let socks = try #require(try await SharedTorNetwork.client().socks)
        func doctor() async throws -> String {
            let configuration = stage.configuration
            return try await Task.detached {
                try run([program, "doctor", "--json", "--socks", "\(socks)", "--config", configuration])
            }.value.output
        }
        let said = try await doctor()
        #expect(said.contains(#""check":"bisq1.relay","verdict":"pass""#), "\(said)")
        #expect(said.contains(#""check":"bisq2.relay","verdict":"pass""#), "\(said)")
        #expect(said.contains("HTTP400 for a nonexistent device"))
        #expect(said.contains("INVALID_ARGUMENT for a nonexistent device"))
        let address = stage.address
        for (app, words) in [("bisq1", "HTTP400"), ("bisq2", "INVALID_ARGUMENT")] {
            let watched = try await Task.detached {
                try run([
                    program, "watch", "--to", address, "--app", app, "--socks", "\(socks)", "--platform",
                    "android",
                ])
            }.value
            #expect(watched.status == 0 && watched.output.contains(words), "\(watched)")
        }
        #expect(stage.first.book.isEmpty && stage.second.book.isEmpty)
        stage.second.outage = .answer(status: 404)
        #expect(try await doctor().contains(#""check":"bisq2.relay","verdict":"fail""#))
        await stage.close()
    }
}
