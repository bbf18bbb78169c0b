import Foundation
import Logging
import Reactor
import Testing

@testable import Doors
@testable import Node
@testable import Owner

/// The console's links and tokens, without its listeners.
@EventLoop
@Suite struct NodeConsoleTests {
    private let path = FileManager.default.temporaryDirectory.path + "/console-\(UUID().uuidString)"

    private func console(renewal: Duration = .seconds(86_400)) throws -> NodeConsole {
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let console = NodeConsole(state: try StateDirectory(path), renewal: renewal, log: log)
        console.linkOrigins = ["http://127.0.0.1"]
        return console
    }

    private func text(_ links: [String]) -> String { links[0].components(separatedBy: "#enter=")[1] }

    /// The timer of the link before would make another one in the middle of the time that the command has told.
    @Test func aLinkThatSomebodyWasToldHasItsWholeLife() async throws {
        let console = try console(renewal: .milliseconds(200))
        _ = await console.makeLinks()
        await EventLoop.pass(.milliseconds(150))
        let link = text(await console.makeLinks())
        // The timer of the first link is due before this, and that of the second behind it.
        await EventLoop.pass(.milliseconds(100))
        guard case .entered = await console.login.enter(byLink: link, from: 1) else {
            Issue.record("the link is none any more")
            return
        }
        await console.close()
        // What was begun may still be written.
        try? FileManager.default.removeItem(atPath: path)
    }

    @Test func aLinkThatNobodyUsesIsRenewed() async throws {
        let console = try console(renewal: .milliseconds(10))
        let first = text(await console.makeLinks())
        let file = path + "/console-link"
        try await EventLoop.until {
            (try? String(contentsOfFile: file, encoding: .utf8))?.contains(first) == false
        }
        await console.close()
        // What was begun may still be written.
        try? FileManager.default.removeItem(atPath: path)
    }

    @FileThread
    private static func hang(until end: DispatchSemaphore) { end.wait() }

    @FileThread
    private static func makeRoom(at path: String) { try? FileManager.default.removeItem(atPath: path) }

    /// One token can't be written; another is asked for before that is known, and can.
    @Test func aTokenThatWasNotWrittenIsNone() async throws {
        let console = try console()
        let inTheWay = console.widgetFile
        try FileManager.default.createDirectory(atPath: inTheWay + "/x", withIntermediateDirectories: true)
        let end = DispatchSemaphore(value: 0)
        let hanging = Task { await Self.hang(until: end) }
        let first = Task { () async -> CallRefusal? in
            do throws(CallRefusal) {
                _ = try await console.addWidget("a")
                return nil
            } catch {
                return error
            }
        }
        try await EventLoop.until { console.widgets.tokens.count == 1 }
        let room = Task { await Self.makeRoom(at: inTheWay) }
        for _ in 0..<3 { await EventLoop.nextTurn() }
        let second = Task { try await console.addWidget("b") }
        for _ in 0..<3 { await EventLoop.nextTurn() }
        end.signal()
        await hanging.value
        await room.value
        #expect(await first.value?.word == "store_failed")
        let token = try await second.value
        #expect(console.widgets.tokens.map(\.name) == ["b"] && console.widgets.has(token))
        #expect(WidgetTokenFile.read(console.widgetFile).tokens == console.widgets)
        await console.close()
        // What was begun may still be written.
        try? FileManager.default.removeItem(atPath: path)
    }
}
