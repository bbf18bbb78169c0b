import Foundation
import Reactor
import Testing

@testable import Tor

/// The node's calls to itself, by a SOCKS proxy that says what a test wants.
@EventLoop
@Suite struct SelfDialTests {
    private let address = OnionAddress(publicKey: [UInt8](repeating: 7, count: 32))

    private func settings(_ answer: @escaping @EventLoop @Sendable () -> SelfDialAnswer) -> SelfDialSettings {
        var settings = SelfDialSettings()
        settings.interval = .milliseconds(5)
        settings.retryPause = .milliseconds(5)
        settings.firstPause = .zero
        settings.timeout = .seconds(5)
        settings.needsSocks = true
        settings.doors = [
            SelfDialDoor(port: 9999) { _, _, _ in SelfDialReply(answer()) },
            SelfDialDoor(port: 80) { _, _, _ in SelfDialReply(answer()) },
        ]
        return settings
    }

    @Test func eachTryTakesACircuitOfItsOwnAndBothDoorsAreAsked() async throws {
        let proxy = try FakeSocks { $0 == 1 ? 4 : 0 }
        let selfDial = SelfDial(settings { .own }) { [address] in
            .init(socks: proxy.endpoint, address: address)
        }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.dials > 0 }
        selfDial.pause()
        // The first try failed, the second came through; then the other door.
        #expect(proxy.requests.prefix(3).map(\.port) == [9999, 9999, 80])
        #expect(Set(proxy.requests.map(\.user)).count == proxy.requests.count)
        #expect(proxy.requests.allSatisfy { $0.host == address.description })
        #expect(selfDial.figures.failures == 0)
        #expect(selfDial.figures.lastSuccess != nil && selfDial.figures.lastDuration != nil)
    }

    /// Another node may answer there, and nothing of ours is amiss when none does.
    @Test func theAddressBeforeOursIsCalledToo() async throws {
        let isUp = Changing(false)
        let front = OnionAddress(publicKey: [UInt8](repeating: 8, count: 32))
        let proxy = try FakeSocks { _ in 0 }
        proxy.refusing = { $0 == front.description && !isUp.value }
        var settings = settings { .own }
        settings.front = front
        let selfDial = SelfDial(settings) { [address] in .init(socks: proxy.endpoint, address: address) }
        var told: [String] = []
        selfDial.onFrontFailure = { _ in told.append("failed") }
        selfDial.onFrontSuccess = { _ in told.append("answers") }
        selfDial.onUnreachable = { _, _ in told.append("unreachable") }
        selfDial.onStranger = { told.append("stranger") }
        selfDial.begin()
        try await EventLoop.until { (selfDial.figures.front?.failuresInARow ?? 0) > 3 }
        #expect(selfDial.figures.front?.isFailing == true && told == ["failed"])
        #expect(selfDial.figures.failuresInARow == 0)
        isUp.value = true
        try await EventLoop.until { selfDial.figures.front?.lastSuccess != nil }
        #expect(selfDial.figures.front?.isFailing == false && told == ["failed", "answers"])
        selfDial.pause()
        let ports = Set(proxy.requests.filter { $0.host == front.description }.map(\.port))
        #expect(ports == [9999])
    }

    /// Where clients use our own address nothing is called twice.
    @Test func theOwnAddressIsNoFront() async throws {
        let proxy = try FakeSocks { _ in 0 }
        var settings = settings { .own }
        settings.front = address
        let selfDial = SelfDial(settings) { [address] in .init(socks: proxy.endpoint, address: address) }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.dials > 2 }
        selfDial.pause()
        #expect(selfDial.figures.front == nil)
    }

    /// Both are due in one turn of the loop: the call's task finds nobody, and that ends nothing else.
    @Test func whoIsLetGoWhenTheCallIsDueCallsNobody() async throws {
        var asked = 0
        var selfDial: SelfDial? = SelfDial(settings { .own }) {
            asked += 1
            return nil
        }
        var isOver = false
        let end = Timer {
            selfDial = nil
            Task { isOver = true }
        }
        selfDial?.begin()
        end.start(after: .zero)
        try await EventLoop.until { isOver }
        #expect(asked == 0)
    }

    /// Whoever came while the first call failed came before the network went away, or by luck: the outage is one all the same.
    @Test func aClientOfTheFirstFailureHidesNoOutage() async throws {
        let proxy = try FakeSocks { _ in 0xF2 }
        let selfDial = SelfDial(settings { .own }) { [address] in
            .init(socks: proxy.endpoint, address: address)
        }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.failuresInARow > 0 }
        var figures = TorFigures()
        figures.lastClientInstant = EventLoop.now
        func isLonely() -> Bool {
            figures.selfDial = selfDial.figures
            return figures.isLonely
        }
        #expect(!isLonely())
        let before = selfDial.figures.failuresInARow
        try await EventLoop.until { selfDial.figures.failuresInARow >= before + 4 }
        #expect(isLonely())
        selfDial.pause()
    }

    @Test func failuresInARowCallForHelpAndASuccessEndsThem() async throws {
        let isUp = Changing(false)
        let proxy = try FakeSocks { _ in isUp.value ? 0 : 0xF2 }
        let selfDial = SelfDial(settings { .own }) { [address] in
            .init(socks: proxy.endpoint, address: address)
        }
        var calls: [Int] = []
        var words: Set<String> = []
        selfDial.onUnreachable = {
            calls.append($0)
            words.insert($1)
        }
        var before: Int?
        selfDial.onSuccess = { before = before ?? $0 }
        selfDial.begin()
        try await EventLoop.until { calls.count == 2 }
        #expect(calls == [2, 3])
        #expect(
            words == ["port 9999: the onion service's introduction points no longer know it"])
        #expect(selfDial.isFailing && selfDial.figures.failingSince != nil)
        isUp.value = true
        try await EventLoop.until { before != nil }
        #expect((before ?? 0) >= 3)
        #expect(!selfDial.isFailing && selfDial.figures.failingSince == nil)
        #expect(selfDial.figures.lastFailure == nil)
        selfDial.pause()
    }

    @Test func aDoorThatDoesNotAnswerIsNotTorsFault() async throws {
        let proxy = try FakeSocks { _ in 0 }
        let selfDial = SelfDial(settings { .unanswered("busy") }) { [address] in
            .init(socks: proxy.endpoint, address: address)
        }
        selfDial.onUnreachable = { _, _ in Issue.record("tor was blamed") }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.failuresInARow >= 3 }
        #expect(selfDial.isFailing)
        #expect(selfDial.figures.lastFailure == "busy")
        // No second try of a call that came through.
        #expect(proxy.requests.count <= selfDial.figures.dials + 1)
        selfDial.pause()
    }

    @Test func anotherNodeUnderOurAddressIsToldOnce() async throws {
        let proxy = try FakeSocks { _ in 0 }
        let answer = Changing(SelfDialAnswer.another)
        let selfDial = SelfDial(settings { answer.value }) { [address] in
            .init(socks: proxy.endpoint, address: address)
        }
        var told = 0
        selfDial.onStranger = { told += 1 }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.dials >= 3 }
        #expect(told == 1)
        #expect(selfDial.figures.isAnsweredByAnother && !selfDial.isFailing)
        answer.value = .own
        try await EventLoop.until { !selfDial.figures.isAnsweredByAnother }
        selfDial.pause()
    }

    @Test(arguments: [true, false])
    func aTorWithoutSocksIsAFaultOfOurOwnOnly(isOwn: Bool) async throws {
        var settings = settings { .own }
        settings.needsSocks = isOwn
        var asked = 0
        let selfDial = SelfDial(settings) {
            asked += 1
            return nil
        }
        selfDial.begin()
        try await EventLoop.until { asked >= 3 }
        selfDial.pause()
        #expect(selfDial.isFailing == isOwn)
        #expect(!selfDial.isAble)
    }

    @Test func aCallThatBeganBeforeTheServiceWasLostSaysNothing() async throws {
        let proxy = try FakeSocks { _ in 0 }
        let isAsked = Changing(false)
        let isLost = Changing(false)
        var settings = settings { .own }
        settings.doors = [
            SelfDialDoor(port: 1) { _, _, _ in
                isAsked.value = true
                try? await EventLoop.until { isLost.value }
                return SelfDialReply(.unreached("late"))
            }
        ]
        let selfDial = SelfDial(settings) { [address] in .init(socks: proxy.endpoint, address: address) }
        selfDial.begin()
        try await EventLoop.until { isAsked.value }
        selfDial.pause()
        isLost.value = true
        try await EventLoop.until { !selfDial.isCalling(at: .now) }
        #expect(selfDial.figures == SelfDialFigures())
    }

    /// Tor tells of the client a little later, and that client is the node.
    @Test func aCallForSomebodyWhoAsksIsTheNodesOwn() async throws {
        let proxy = try FakeSocks { _ in 0 }
        let isCalling = Changing<[Bool]>([])
        let caller = Changing<SelfDial?>(nil)
        var settings = settings { .own }
        settings.interval = .seconds(3600)
        settings.firstPause = .seconds(3600)
        settings.doors = [
            SelfDialDoor(port: 1) { _, _, _ in
                isCalling.value.append(caller.value?.isCalling(at: .now) ?? false)
                return SelfDialReply(.own)
            }
        ]
        let selfDial = SelfDial(settings) { [address] in .init(socks: proxy.endpoint, address: address) }
        caller.value = selfDial
        selfDial.begin()
        #expect(!selfDial.isCalling(at: .now))
        #expect(await selfDial.test()?.answer == .own)
        #expect(isCalling.value == [true])
        #expect(selfDial.isCalling(at: .now))
        #expect(!selfDial.isCalling(at: .now + .seconds(3)))
        #expect(selfDial.figures == SelfDialFigures())
        selfDial.pause()
    }

    @Test func aCircuitThatHangsIsPassedOverForAnother() async throws {
        let proxy = try FakeSocks { $0 == 1 ? nil : 0 }
        var settings = settings { .own }
        settings.timeout = .seconds(2)
        let selfDial = SelfDial(settings) { [address] in .init(socks: proxy.endpoint, address: address) }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.dials > 0 }
        selfDial.pause()
        #expect(proxy.requests.prefix(3).map(\.port) == [9999, 9999, 80])
        #expect(selfDial.figures.failures == 0)
    }

    @Test func callsComeByChanceAFifthSoonerOrLaterAtMost() {
        var random = SeededRandom(seed: 7)
        let times = (1...1000).map { _ in SelfDial.unsteady(.seconds(100), using: &random) }
        #expect(times.allSatisfy { (.seconds(80) ... .seconds(120)).contains($0) })
        #expect(times.contains { $0 < .seconds(82) } && times.contains { $0 > .seconds(118) })
        var again = SeededRandom(seed: 7)
        #expect(SelfDial.unsteady(.seconds(100), using: &again) == times[0])
    }

    // MARK: The line that stands

    /// Calls hours apart, and a line after each that answers as it is told.
    private func settings(
        line answer: @escaping @EventLoop () -> SelfDialLine.Answer, _ closed: Changing<Int>
    )
        -> SelfDialSettings
    {
        var settings = settings { .own }
        settings.interval = .seconds(3600)
        settings.lineInterval = .milliseconds(2)
        settings.doors[0].ask = { _, _, _ in
            SelfDialReply(.own, line: SelfDialLine(ask: { _ in answer() }, close: { closed.value += 1 }))
        }
        return settings
    }

    /// Together with the one call that it brings about it is enough, where two calls are.
    @Test func aLineThatFallsSilentIsAFailureAndBringsTheNextCallAtOnce() async throws {
        let isUp = Changing(true)
        let asked = Changing(0)
        let closed = Changing(0)
        let proxy = try FakeSocks { _ in isUp.value ? 0 : 0xF2 }
        let selfDial = SelfDial(
            settings(
                line: {
                    asked.value += 1
                    if asked.value == 5 { isUp.value = false }
                    return isUp.value ? .answered : .silent
                }, closed)
        ) { [address] in .init(socks: proxy.endpoint, address: address) }
        var unreachable: [Int] = []
        selfDial.onUnreachable = { calls, _ in
            unreachable.append(calls)
            isUp.value = true
        }
        var before: Int?
        selfDial.onSuccess = { before = $0 }
        selfDial.begin()
        try await EventLoop.until { unreachable == [2] }
        #expect(closed.value == 1)
        #expect(selfDial.figures.failures == 2)
        // The door is asked again, as after any failure, and its new line is kept.
        try await EventLoop.until { before == 2 && asked.value > 8 }
        #expect(!selfDial.isFailing && closed.value == 1)
        selfDial.pause()
        #expect(closed.value == 2)
    }

    @Test func aLineThatEndsIsNoFailureButAReasonToCall() async throws {
        let closed = Changing(0)
        let proxy = try FakeSocks { _ in 0 }
        let selfDial = SelfDial(settings(line: { .ended }, closed)) { [address] in
            .init(socks: proxy.endpoint, address: address)
        }
        selfDial.begin()
        try await EventLoop.until { selfDial.figures.dials >= 3 }
        selfDial.pause()
        #expect(selfDial.figures.failures == 0 && closed.value >= 2)
    }
}
