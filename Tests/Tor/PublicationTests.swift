import Clocks
import Glibc
import Testing

@testable import Tor

@Suite struct PublicationTests {
    let address = OnionAddress(publicKey: [UInt8](repeating: 1, count: 32))
    let done = Bootstrap(progress: 100, tag: "done", summary: "Done")

    private func event(_ text: String) throws -> ControlEvent {
        try ControlEvent(
            reply(650, "HS_DESC \(text) \(address.serviceID) UNKNOWN $00~relay REASON=UPLOAD_REJECTED"))
    }

    @Test func theWayIntoTheNetworkIsToldWithWhatHinders() {
        var publication = Publication(
            of: address, bootstrap: .init(progress: 0, tag: "starting", summary: "Starting"))
        #expect(publication.state == .bootstrapping(progress: 0, summary: "Starting"))
        publication.take(
            .bootstrap(.init(progress: 5, tag: "conn", summary: "Connecting", warning: "Connection refused")),
            at: 1)
        #expect(publication.state == .bootstrapping(progress: 5, summary: "Connection refused"))
        publication.take(.bootstrap(done), at: 2)
        #expect(publication.state == .publishing)
    }

    @Test func halfOfTheDirectoriesMakeItPublished() throws {
        var publication = Publication(of: address, bootstrap: done)
        for _ in 0..<16 { publication.take(try event("UPLOAD"), at: 1) }
        for count in 1...7 {
            publication.take(try event("UPLOADED"), at: Int64(count))
            #expect(publication.state == .publishing)
        }
        publication.take(try event("UPLOADED"), at: 8)
        #expect(publication.state == .published(uploads: 8, since: 8))
        #expect("\(publication.state)" == "senders find the onion address in the Tor network")
        publication.take(try event("UPLOADED"), at: 9)
        #expect(publication.state == .published(uploads: 9, since: 8))
    }

    /// Tor says nothing of directories that it can't reach.
    @Test func fewerDirectoriesAreEnoughOnceNoMoreAreToBeWaitedFor() throws {
        var publication = Publication(of: address, bootstrap: done)
        publication.graceEnded(at: 1)
        #expect(publication.state == .publishing)
        for _ in 0..<16 { publication.take(try event("UPLOAD"), at: 2) }
        publication.take(try event("UPLOADED"), at: 3)
        publication.take(try event("FAILED"), at: 4)
        #expect(publication.state == .publishing)
        #expect(publication.uploadsFailed == 1)
        publication.graceEnded(at: 5)
        #expect(publication.state == .published(uploads: 1, since: 5))
    }

    @Test func anotherServicesDescriptorIsNotOurs() throws {
        let other = OnionAddress(publicKey: [UInt8](repeating: 2, count: 32))
        var publication = Publication(of: other, bootstrap: done)
        publication.take(try event("UPLOADED"), at: 1)
        #expect(publication.state == .publishing)
    }
}

@Suite struct BackoffTests {
    @Test func theWaitDoublesUpToItsLimitAndStaysWithinHalfOfIt() {
        var random = SeededRandom(seed: 3)
        var backoff = Backoff(first: .milliseconds(200), longest: .seconds(30))
        for ceiling in [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000] {
            let wait = backoff.next(using: &random)
            #expect(wait >= .milliseconds(ceiling / 2) && wait <= .milliseconds(ceiling))
        }
        backoff.reset()
        #expect(backoff.next(using: &random) <= .milliseconds(200))
    }
}

@Suite struct OnionPresenceErrorTests {
    /// Whoever kills the node's own tor while it starts does not end the node.
    @Test func anOwnTorThatSomebodyEndedIsStartedAgainAndOneThatGaveUpIsNot() {
        let own = OnionPresenceSettings.Source.own(
            TorProcessSettings(torrc: "/torrc", dataDirectory: "/d", offersSocks: true))
        #expect(OnionLoss.control(.closed).mayPassSoon(with: own))
        #expect(OnionLoss.process(.ended(.signalled(SIGKILL), lastWords: "")).mayPassSoon(with: own))
        #expect(!OnionLoss.process(.ended(.exited(1), lastWords: "")).mayPassSoon(with: own))
        #expect(!OnionLoss.process(.notFound("tor")).mayPassSoon(with: own))
        #expect(!OnionLoss.control(.refused(.authenticationRefused(.wrongPassword))).mayPassSoon(with: own))
    }

    @Test func aMissingPermissionIsNotWaitedForAndIsToldWithTheCure() {
        let refused = ControlError.cookieUnreadable(.init("open /run/tor/control.authcookie", code: 13))
        #expect(!refused.mayPassSoon)
        #expect(refused.description.contains("debian-tor"))
        #expect(ControlError.cookieUnreadable(.init("open /run/tor/control.authcookie", code: 2)).mayPassSoon)
    }
}
