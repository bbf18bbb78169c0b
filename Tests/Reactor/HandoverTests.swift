import Glibc
import Testing

@testable import Reactor

/// What a process hands on to its successor. The numbers from 3 on are this process' own: no test takes them.
@Suite struct HandoverTests {
    /// Two numbers of a new pipe: the end to read, and the end to write.
    private func pipe() throws -> [CInt] {
        var ends: [CInt] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        return ends
    }

    /// Returns the number of what is taken under a name, and closes it.
    private func taken(_ name: String, from handover: Handover) -> CInt? {
        guard let descriptor = handover.take(name) else { return nil }
        return descriptor.number
    }

    private func listener(at address: SocketAddress, from handover: Handover) -> CInt? {
        guard let descriptor = handover.takeListener(at: address) else { return nil }
        return descriptor.number
    }

    @Test(arguments: [
        ["LISTEN_FDS": "1", "LISTEN_FDNAMES": "a"], ["LISTEN_PID": "1", "LISTEN_FDS": "1"],
        ["LISTEN_PID": "x", "LISTEN_FDS": "1"], ["LISTEN_PID": "", "LISTEN_FDS": "1"],
    ])
    func whatIsForAnotherProcessIsLeft(environment: [String: String]) {
        let handover = Handover()
        handover.receive(environment)
        #expect(taken("a", from: handover) == nil && taken("", from: handover) == nil)
    }

    @Test(arguments: ["", "0", "-1", "257", "1000000000000000000000", "2x", " 1"])
    func aNumberThatLiesBringsNothing(count: String) {
        let handover = Handover()
        handover.receive(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": count, "LISTEN_FDNAMES": "a"])
        #expect(taken("a", from: handover) == nil && taken("", from: handover) == nil)
    }

    /// libdispatch opens a file for a moment that would outlive an exec, at a number that may have been promised.
    @Test func whatThisProcessHasOpenedWasNotHandedOver() throws {
        let own = open("/dev/null", O_RDONLY)
        defer { close(own) }
        try #require(own >= 3 && own < 250)
        let handover = Handover()
        let names = (3..<own).map { _ in "before" } + ["own"]
        handover.receive([
            "LISTEN_PID": "\(getpid())", "LISTEN_FDS": "\(names.count)",
            "LISTEN_FDNAMES": names.joined(separator: ":"),
        ])
        #expect(taken("own", from: handover) == nil)
    }

    @Test func whatIsKeptIsTakenOnceAndByItsName() throws {
        let handover = Handover()
        let ends = try pipe()
        defer { close(ends[1]) }
        handover.keep("a", Descriptor(owning: ends[0]))
        #expect(taken("b", from: handover) == nil)
        #expect(taken("a", from: handover) == ends[0])
        #expect(taken("a", from: handover) == nil)
    }

    @Test func whileItHandsOnNothingIsTaken() throws {
        let handover = Handover()
        let ends = try pipe()
        defer { close(ends[1]) }
        handover.keep("a", Descriptor(owning: ends[0]))
        handover.begin(for: .thisProcess)
        #expect(handover.isHandingOn && taken("a", from: handover) == nil)
        handover.takeBack()
        #expect(!handover.isHandingOn && taken("a", from: handover) == ends[0])
    }

    @Test func theRestIsClosed() throws {
        let handover = Handover()
        let ends = try pipe()
        defer { close(ends[1]) }
        handover.keep("a", Descriptor(owning: ends[0]))
        #expect(handover.closeRest() == 1)
        #expect(taken("a", from: handover) == nil)
        signal(SIGPIPE, SIG_IGN)
        // Nobody reads any more.
        #expect(write(ends[1], "x", 1) == -1 && errno == EPIPE)
    }

    @Test func bytesComeBackWholeAndNoMoreThanTheLimit() {
        let handover = Handover()
        let bytes = [UInt8](repeating: 7, count: 1000)
        handover.keep("a", bytes)
        #expect(handover.takeBytes("a", limit: 1000) == bytes)
        handover.keep("a", bytes)
        #expect(handover.takeBytes("a", limit: 999) == nil)
        handover.keep("a", [])
        #expect(handover.takeBytes("a", limit: 0) == [])
    }

    /// Whoever started the process may name anything so.
    @Test func bytesAreTakenOfNothingButAFile() throws {
        let handover = Handover()
        let ends = try pipe()
        defer { close(ends[1]) }
        handover.keep("a", Descriptor(owning: ends[0]))
        #expect(handover.takeBytes("a", limit: 100) == nil)
    }

    /// Its address alone counts, and only while it listens.
    @Test @EventLoop func aListenerIsFoundByWhereItListens() throws {
        let handover = Handover()
        let path = "/tmp/onionbell-test-\(UInt64.random(in: 0 ..< .max))"
        defer { unlink(path) }
        var address = try #require(SocketAddress(unixPath: path))
        let other = try #require(SocketAddress(unixPath: path + "x"))
        let number = try Listener.bound(to: .unix(path: path), &address).release()
        handover.keep(listener: Descriptor(owning: number))
        #expect(listener(at: address, from: handover) == nil, "it does not listen")
        #expect(listen(number, 1) == 0)
        #expect(listener(at: other, from: handover) == nil)
        // No word finds it.
        #expect(taken("listener", from: handover) == nil)
        #expect(listener(at: address, from: handover) == number)
        #expect(listener(at: address, from: handover) == nil)
    }

    @Test @EventLoop func aClientIsFoundBesideTheListenerToWhichItHasCome() throws {
        let handover = Handover()
        let path = "/tmp/onionbell-test-\(UInt64.random(in: 0 ..< .max))"
        defer { unlink(path) }
        var address = try #require(SocketAddress(unixPath: path))
        let other = try #require(SocketAddress(unixPath: path + "x"))
        let number = try Listener.bound(to: .unix(path: path), &address).release()
        #expect(listen(number, 1) == 0)
        let client = try Descriptor.socket(family: AF_UNIX, for: "test")
        #expect(address.withPointer { connect(client.number, $0, $1) } == 0)
        let accepted = accept(number, nil, nil)
        handover.begin(for: .anotherProcess)
        handover.keep(listener: Descriptor(owning: number))
        #expect(!handover.findsClient(accepted), "a service manager's store has the listener alone")
        handover.begin(for: .thisProcess)
        #expect(handover.findsClient(accepted) && !handover.findsClient(client.number))
        let rest = (0..<191).map { _ in dup(STDIN_FILENO) }
        for one in rest { handover.keep("a", Descriptor(owning: one)) }
        #expect(!handover.findsClient(accepted), "the others are needed more")

        handover.keep(client: Descriptor(owning: accepted), circuit: 42)
        #expect(handover.takeClients(at: address).isEmpty, "it is handed on")
        handover.takeBack()
        #expect(handover.takeClients(at: other).isEmpty)
        let found = handover.takeClients(at: address)
        #expect(found.map(\.circuit) == [42])
        #expect(handover.takeClients(at: address).isEmpty)
        for stream in found { stream.close() }
        #expect(handover.closeRest() == 192)
    }

    @Test @EventLoop func aProgramThatIsNotThereChangesNothing() {
        let handover = Handover()
        handover.keep("a", [1, 2])
        let fault = handover.become("/nonexistent/onionbelld", arguments: [], environment: [:])
        #expect(fault.code == ENOENT)
        #expect(handover.takeBytes("a", limit: 10) == [1, 2])
    }

    /// What a start has taken, and closed, is there for another try until the start is over.
    @Test func copiesOutliveWhatIsTakenUntilTheStartIsOver() throws {
        let handover = Handover()
        let ends = try pipe()
        handover.keep("a", Descriptor(owning: ends[0]))
        handover.keepCopies()
        // Taken, and closed at once.
        #expect(taken("a", from: handover) == ends[0])
        signal(SIGPIPE, SIG_IGN)
        #expect(write(ends[1], "x", 1) == 1, "somebody can read still")
        let fault = handover.becomeAgain(
            "/nonexistent/onionbelld", arguments: [], environment: [:], keeping: "b", [1])
        #expect(fault.code == ENOENT && taken("b", from: handover) == nil)
        #expect(handover.closeRest() == 0)
        #expect(write(ends[1], "x", 1) == -1 && errno == EPIPE)
        close(ends[1])
    }
}
