import Clocks
import Testing

@testable import Relay

/// When the owner of a watched Bisq is rung.
@Suite struct VigilTests {
    private func minute(_ number: Int64) -> UnixTime { UnixTime(milliseconds: number * 60_000) }
    private func hour(_ number: Int64) -> UnixTime { minute(60 * number) }

    @Test func silenceAndItsEndAreToldOnce() {
        var vigil = Vigil(misses: 3)
        #expect(vigil.answered(at: 1000) == nil)
        #expect(vigil.missed(at: 2000) == nil && vigil.missed(at: 3000) == nil)
        #expect(vigil.missed(at: 4000) == .silent(since: 1000))
        for time: Int64 in 5...20 { #expect(vigil.missed(at: UnixTime(milliseconds: time * 1000)) == nil) }
        #expect(vigil.isSilent)
        #expect(vigil.answered(at: 61_000) == .back(after: .seconds(60)))
        #expect(!vigil.isSilent && vigil.answered(at: 62_000) == nil)
    }

    @Test func aMissOrTwoAreNoSilence() {
        var vigil = Vigil(misses: 3)
        for number: Int64 in 0..<50 {
            let time = UnixTime(milliseconds: number)
            #expect(vigil.missed(at: time) == nil && vigil.missed(at: time) == nil)
            #expect(vigil.answered(at: time) == nil)
        }
    }

    @Test func whoNeverAnsweredIsTold() {
        var vigil = Vigil(misses: 1)
        #expect(vigil.missed(at: 5000) == .silent(since: nil))
        #expect(vigil.answered(at: 9000) == .back(after: .seconds(4)))
    }

    /// One that comes and goes rings twice an hour.
    @Test func aFlutterRingsNoMoreThanTwiceAnHour() {
        var vigil = Vigil(misses: 1)
        var rings = 0
        for number: Int64 in 0..<180 {
            if vigil.missed(at: minute(number)) != nil { rings += 1 }
            if vigil.answered(at: minute(number) + .seconds(30)) != nil { rings += 1 }
        }
        #expect(rings == 6)
        // What is silent when the hour is over is told then.
        #expect(vigil.missed(at: minute(180)) == .silent(since: minute(179) + .seconds(30)))
    }

    @Test func aClockThatWasSetBackHidesNothing() {
        var vigil = Vigil(misses: 1)
        #expect(vigil.missed(at: hour(10)) != nil)
        #expect(vigil.answered(at: hour(11)) != nil)
        #expect(vigil.missed(at: hour(1)) == .silent(since: hour(11)))
        #expect(vigil.answered(at: hour(1)) == .back(after: .zero))
    }

    @Test func theSilentAreAskedMoreRarely() {
        var vigil = Vigil(misses: 2)
        var pauses: [Int] = []
        for time: Int64 in 0..<20 {
            _ = vigil.missed(at: UnixTime(milliseconds: time))
            pauses.append(vigil.pause)
        }
        #expect(pauses.prefix(6) == [1, 1, 1, 2, 2, 3] && pauses.last == 6)
        _ = vigil.answered(at: 30)
        #expect(vigil.pause == 1)
    }

    /// No endpoint takes from outside what the node itself says.
    @Test func aNoticeIsTakenFromTheNodeAlone() throws {
        let node = Node()
        let text = Notice.text(title: "home is silent", message: "No answer.", at: 1)
        #expect(text == #"OnionbellNotice|{"title":"home is silent","message":"No answer.","sentDate":1}"#)
        var submission = Sample.android(message: text)
        #expect(node.submit(submission) == .answered(.refused(.badMessage)))
        submission.isNotice = true
        guard case .storing = node.submit(submission) else {
            Issue.record("it was refused")
            return
        }
    }
}
