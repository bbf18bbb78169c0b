import Clocks
import Testing

@testable import Relay

/// What one circuit may use.
@Suite struct CircuitAccountTests {
    private let start: MonotonicTime = 0
    private let second = Duration.seconds(1)

    private func account(_ change: (inout CircuitAccount.Limits) -> Void = { _ in }) -> CircuitAccount {
        var limits = CircuitAccount.Limits()
        change(&limits)
        return CircuitAccount(limits: CircuitAccount.SharedLimits(limits))
    }

    @Test func theLastConnectionAllowedIsTakenAndTheNextOneIsNot() {
        var account = account { $0.connections = 2 }
        #expect(account.open(at: 0) == true)
        #expect(account.open(at: 0) == true)
        #expect(account.open(at: 0) == false)
        account.close()
        #expect(account.open(at: 0) == true)
        #expect(account.connections == 2)
    }

    @Test func tenSecondsOfFramesMayComeAtOnceAndAfterThatAsManyAsTheRateAllows() {
        var account = account {
            $0.framesPerSecond = 100
            $0.bytesPerSecond = 0
        }
        #expect(account.spend(frames: 1000, bytes: 1 << 40, at: start + second * 5) == .zero)
        #expect(account.spend(frames: 1, bytes: 0, at: start + second * 5) == second / 100)
        // Within the share again: a hundred more cost a second.
        #expect(account.spend(frames: 100, bytes: 0, at: start + second * 5 + second / 100) == second)
    }

    @Test func bytesAreCountedForThemselves() {
        var account = account {
            $0.framesPerSecond = 1
            $0.bytesPerSecond = 1000
        }
        #expect(account.spend(frames: 0, bytes: 10_000, at: 0) == .zero)
        #expect(account.spend(frames: 0, bytes: 500, at: 0) == second / 2)
        #expect(account.spend(frames: 10, bytes: 0, at: start + second * 10) == .zero)
        #expect(account.spend(frames: 2, bytes: 0, at: start + second * 10) == second * 2)
    }

    @Test func withoutLimitsNothingIsTooMuch() {
        var account = account {
            $0.connections = 0
            $0.framesPerSecond = 0
            $0.bytesPerSecond = 0
            $0.strikes = 0
        }
        for _ in 0..<10_000 { #expect(account.open(at: 0) == true) }
        #expect(account.spend(frames: 1 << 40, bytes: 1 << 40, at: 0) == .zero)
        for _ in 0..<10_000 { #expect(account.strike(at: 0) == false) }
        #expect(!account.isStruckOut(at: 0))
    }

    @Test func theLastStrikeEndsACircuitOnceAndNoConnectionIsTakenFromItForAMinute() {
        var account = account { $0.strikes = 3 }
        #expect(account.strike(at: 0) == false)
        #expect(account.strike(at: start + second * 30) == false)
        #expect(account.open(at: start + second * 30) == true)
        #expect(account.strike(at: start + second * 60) == true)
        #expect(account.strike(at: start + second * 60) == false)
        #expect(account.open(at: start + second * 60) == false)
        #expect(account.open(at: start + second * 61) == true)
    }

    @Test func strikesAreForgottenAfterAMinute() {
        var account = account { $0.strikes = 2 }
        for minute in 0..<10 { #expect(account.strike(at: start + second * 61 * minute) == false) }
    }

    @Test func whatIsUsedOrStruckIsNotForgottenWithTheLastConnection() {
        var account = account { $0.framesPerSecond = 1 }
        #expect(account.isClean(at: 0))
        #expect(account.open(at: 0) == true)
        #expect(!account.isClean(at: 0))
        _ = account.spend(frames: 5, bytes: 0, at: 0)
        account.close()
        #expect(!account.isClean(at: start + second * 5 - .nanoseconds(1)))
        #expect(account.isClean(at: start + second * 5))
        _ = account.strike(at: start + second * 5)
        #expect(!account.isClean(at: start + second * 65))
        #expect(account.isClean(at: start + second * 65 + .nanoseconds(1)))
    }
}
