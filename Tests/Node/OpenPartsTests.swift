import Reactor
import Testing

@testable import Node

@EventLoop
@Suite struct OpenPartsTests {
    private let parts = OpenParts()
    private let closed = Closed()

    @EventLoop
    private final class Closed {
        var names: [String] = []
    }

    private func add(_ name: String, _ stage: OpenParts.Stage) async throws {
        try await parts.add(stage) { [closed] _ in closed.names.append(name) }
    }

    @Test func stagesEndOneAfterTheOtherHoweverTheyWereOpened() async throws {
        try await add("console", .owner)
        try await add("tor", .tor)
        try await add("outbox", .store)
        try await add("peers", .doors)
        await parts.close()
        await parts.close()
        #expect(closed.names == ["peers", "outbox", "tor", "console"])
    }

    /// A store whose opening takes long comes too late.
    @Test func aPartThatComesAfterTheStopIsClosedAtOnce() async throws {
        try await add("outbox", .store)
        await parts.close()
        do {
            try await add("peers", .doors)
            Issue.record("it was taken")
        } catch NodeError.stopped {
            #expect(closed.names == ["outbox", "peers"])
        }
    }
}
