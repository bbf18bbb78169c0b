import Persistence
import Relay
import TestedStores
import Testing

@Suite struct LookUpTests {
    let directory: Directory

    init() throws { directory = try Directory() }

    @Test(arguments: TestedEngine.allCases) func whatIsLookedUpIsNotStored(on engine: TestedEngine)
        async throws
    {
        try directory.use(engine)
        let outbox = try await directory.open()
        _ = try await outbox.commit([
            .store(request(1)), .store(request(2)), .finish(sequence: 2, .delivered),
        ])
        let other = SubmissionDigests(
            token: request(1).digests.token, identity: request(1).digests.identity,
            content: Digest(high: 99, low: 9))
        #expect(
            try await outbox.commit([
                .lookUp(request(1).digests), .finish(sequence: 1, .delivered), .lookUp(request(1).digests),
                .lookUp(request(2).digests), .lookUp(other), .lookUp(request(3).digests),
            ]) == [
                .alreadyWaiting(sequence: 1), .alreadyEnded(.delivered), .alreadyEnded(.delivered), .conflict,
                .unknown,
            ])
        #expect(try await outbox.content().waiting.isEmpty)
        await outbox.close()
    }
}
