import Reactor
import Relay
import Testing

@testable import Doors

@EventLoop
@Suite struct OutcomeWaitTests {
    @Test func anEndThatComesInTimeIsTheAnswer() {
        var answers: [Receipt] = []
        let wait = OutcomeWait(until: OutcomeDeadlines(after: .seconds(50))) { receipt, _ in
            answers.append(receipt)
        }
        wait.take(.stored)
        #expect(answers.isEmpty)
        wait.take(.ended(.delivered))
        #expect(answers == [.ended(.delivered)])
    }

    /// A phone that fetches may be away for long.
    @Test func whatItsGatewayKeepsIsAnsweredAtOnce() {
        var answers: [Receipt] = []
        let wait = OutcomeWait(until: OutcomeDeadlines(after: .seconds(50))) { receipt, _ in
            answers.append(receipt)
        }
        wait.take(.stored)
        wait.take(.kept)
        wait.take(.ended(.delivered))
        #expect(answers == [.kept])
    }

    @Test func whatIsNotStoredIsAnsweredAtOnce() {
        var answers: [Receipt] = []
        let wait = OutcomeWait(until: OutcomeDeadlines(after: .seconds(50))) { receipt, _ in
            answers.append(receipt)
        }
        wait.take(.refused(.badMessage))
        wait.take(.stored)
        wait.take(.ended(.delivered))
        #expect(answers == [.refused(.badMessage)])
    }

    @Test func whoWaitsTooLongIsToldWhatIsKnownThen() async {
        let deadlines = OutcomeDeadlines(after: .milliseconds(20))
        var answers: [(Int, Receipt)] = []
        var answered: CheckedContinuation<Void, Never>?
        let waits = (0..<3).map { number in
            OutcomeWait(until: deadlines) { receipt, _ in
                answers.append((number, receipt))
                if answers.count == 3 { answered?.resume() }
            }
        }
        await withCheckedContinuation { continuation in
            answered = continuation
            for wait in waits { wait.take(.stored) }
            waits[1].take(.ended(.expired))
        }
        #expect(answers.map(\.0) == [1, 0, 2])
        #expect(answers.map(\.1) == [.ended(.expired), .stored, .stored])
        waits[0].take(.ended(.delivered))
        #expect(answers.count == 3)
    }

    /// Thousands that were answered in time leave the list to those that still wait.
    @Test func oneThatStillWaitsIsKeptAmongThousandsThatDoNot() async {
        let deadlines = OutcomeDeadlines(after: .milliseconds(20))
        let receipt = await withCheckedContinuation { continuation in
            OutcomeWait(until: deadlines) { receipt, _ in continuation.resume(returning: receipt) }.take(
                .stored)
            for _ in 0..<5000 {
                let wait = OutcomeWait(until: deadlines) { _, _ in }
                wait.take(.stored)
                wait.take(.ended(.delivered))
            }
        }
        #expect(receipt == .stored)
    }

    /// Before a restart nobody waits for as long as the settings say: neither who came before, nor who comes now.
    @Test func whoWaitsWhileTheNodeHandsOnIsToldSoonWhatIsKnown() async {
        let deadlines = OutcomeDeadlines(after: .seconds(3600))
        var answers: [Receipt] = []
        for isBefore in [true, false] {
            if !isBefore { deadlines.hurry(within: .milliseconds(20)) }
            await withCheckedContinuation { continuation in
                let wait = OutcomeWait(until: deadlines) { receipt, _ in
                    answers.append(receipt)
                    continuation.resume()
                }
                wait.take(.stored)
                if isBefore { deadlines.hurry(within: .milliseconds(20)) }
            }
        }
        #expect(answers == [.stored, .stored])
    }
}
