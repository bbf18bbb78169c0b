import Testing
import Vectors

@testable import Wire

/// A stranger's text costs what its length says, whatever is in it.
@Suite struct HostileTextTests {
    @Test func aSendersAddressCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio { text in
            var session = PeerSession(network: .mainnet)
            var turn = PeerTurn()
            let request = GetPeersRequest(senderNodeAddress: NodeAddress(hostName: text, port: 1), nonce: 1)
            session.receive(
                Envelope(messageVersion: 10, message: .getPeersRequest(request)).frame, at: 1, into: &turn)
            #expect(turn.close == nil && !turn.replies.isEmpty)
        }
        #expect(ratio < 20)
    }

    @Test func anEntryOfABundleCostsWhatItsLengthSays() {
        let ratio = HostileText.ratio(bytes: 30_000) { text in
            var session = PeerSession(network: .mainnet)
            var turn = PeerTurn()
            var request = MobileNotificationRequest()
            request.app = text
            let entry = Envelope(messageVersion: 10, message: .notificationRequest(request))
            session.receive(
                Envelope(messageVersion: 10, message: .bundle([entry, entry])).frame, at: 1, into: &turn)
            #expect(turn.requests.count == 1)
        }
        #expect(ratio < 20)
    }

    @Test(arguments: ["@", "iOS|@|@|@", "iOS|iPhone @|@|a", "android|@ @||@"])
    func aPairingTokenCostsWhatItsLengthSays(form: String) {
        let parts = form.split(separator: "@", omittingEmptySubsequences: false)
        let ratio = HostileText.ratio { text in
            let token = parts.joined(separator: text)
            _ = try? PairingToken(token)
            _ = try? PairingToken(asBisqReads: token)
            _ = PairingToken.isContentAvailable(descriptor: "iPhone \(text)")
            _ = try? MessageString("BisqMessageiOS|\(text)|\(text)", for: .ios)
            _ = try? MessageString("\(text)|\(text)|", for: .ios)
        }
        #expect(ratio < 20)
    }
}
