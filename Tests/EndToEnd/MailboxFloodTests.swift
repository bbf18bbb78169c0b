import Client
import Foundation
import Lab
import LabParts
import Reactor
import Testing

/// A mailbox of the built node over real tor, while strangers want its door for themselves.
@EventLoop
@Suite(.serialized) struct MailboxFloodTests {
    /// All numbers of the metrics, by their names and labels.
    private func metrics(of stage: RelayStage) throws -> [String: Int] {
        let page = try run([
            "curl", "-s", "--unix-socket", stage.directory.path + "/management", "http://localhost/metrics",
        ]).output
        let rows = page.split(separator: "\n").map { $0.split(separator: " ") }
        return Dictionary(
            rows.filter { $0.count == 2 }.compactMap { row in Int(row[1]).map { (String(row[0]), $0) } },
            uniquingKeysWith: { first, _ in first })
    }

    private func hits(of stage: RelayStage, _ limit: String) throws -> Int {
        try metrics(of: stage)["onionbell_limits_hit_total{limit=\"\(limit)\"}"] ?? 0
    }

    @Test func strangersTakeNeitherRequestsNorPlacesOfARegisteredReader() async throws {
        // Little of everything, which is soon taken.
        let stage = try await RelayStage(
            apps: { _ in "  - {name: mailboxes, gateway: mailbox}" },
            more: ["doors:", "  mailbox: {listen: [\"onion:8030\"], readers: 8, rate: 40}"])
        let mailbox = try await StagedMailbox.add(readers: ["phone", "desk"], to: stage.configuration)
        let open = try await StagedMailbox.add(
            "open", readers: ["phone"], options: ["--open"], to: stage.configuration)
        await stage.node.wait { $0.lines.contains { $0.contains("mailbox.changed") } }
        let network = try await SharedTorNetwork.network()
        let readers = try await network.startTor()
        let socks = try #require(readers.socks)
        let reader = try LabReader(
            program, file: stage.directory.path + "/phone",
            arguments: ["--mailbox", mailbox.file, "--reader", "phone", "--socks", "\(socks)"])
        await reader.connected()
        let told = reader.lines.count
        // Another reader, at its first request, on a circuit of its own.
        let token = try #require(mailbox.tokens["desk"])
        let desk = [
            "curl", "--silent", "--proxy", "socks5h://desk:x@\(socks)", "-u",
            "desk:\(token)", "\(mailbox.url)/json?poll=1",
        ]
        let strangers = try #require(try await network.startTor().socks)
        let manners: [Flood.Manner] = [.guesses, .halfHeads, .openReaders(topic: open.topic)]
        for (number, manner) in manners.enumerated() {
            let floods = (0..<manner.streams).map { Flood(strangers, stage.address, manner, number: $0) }
            try await until { floods.allSatisfy { $0.dials > 0 } }
            let titles = ["\(number) one", "\(number) two"]
            for title in titles { _ = try await stage.send(try mailbox.bisq1(title)) }
            await reader.wait(forShown: 2 * number + 2)
            #expect(reader.titles.suffix(2) == titles, "\(manner): \(reader.lines)")
            let polled = try await Task.detached { try run(desk) }.value
            #expect(polled.output.contains("encrypted"), "\(manner): \(polled.output) \(polled.errors)")
            switch manner {
            case .guesses:
                #expect(try hits(of: stage, "circuit_closed") > 0, "whoever guesses loses the circuit")
            case .openReaders:
                try await until { try metrics(of: stage)["onionbell_mailbox_strangers"] == 10 }
                // Not all of those who came, and none in a place of the registered.
                #expect(try metrics(of: stage)["onionbell_mailbox_readers"] == 1)
            case _: break
            }
            let (sent, dials) = floods.reduce((0, 0)) { ($0.0 + $1.sent, $0.1 + $1.dials) }
            print("\(manner): \(sent >> 10) KiB sent, \(dials) dials")
            for flood in floods { flood.stop() }
        }
        // Its connection has stood all the time.
        #expect(!reader.lines.dropFirst(told).contains { $0.contains("trying again") }, "\(reader.lines)")
        print(try metrics(of: stage).filter { $0.key.contains("limits_hit") && $0.value > 0 })
        #expect(await reader.stop() == .exited(0))
        await readers.kill()
        await stage.close()
    }
}
