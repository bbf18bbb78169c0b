import Testing

@testable import Relay

@Suite struct SenderAnswerTests {
    @Test func whatIsStoredHeldOrDeliveredIsTaken() {
        #expect(Receipt.stored.answer == .taken(.stored))
        #expect(Receipt.held(reason: "TLS").answer == .taken(.held(reason: "TLS")))
        #expect(Receipt.kept.answer == .taken(.kept))
        #expect(Receipt.ended(.delivered).answer == .taken(.delivered))
        let busy = Busy.device(retryAfter: .seconds(7))
        #expect(Receipt.busy(busy).answer == .later(busy))
    }

    /// A dead token is dead by whatever word, and a refusal keeps its word and text.
    @Test func failuresKeepTheirWords() {
        let dead = Ending.tokenDead(reason: .gateway("Unregistered"), detail: "gone")
        #expect(
            Receipt.ended(dead).answer
                == .failed(SenderAnswer.Failure(kind: .deadToken, code: "Unregistered", detail: "gone")))
        #expect(
            Receipt.ended(.expired).answer
                == .failed(SenderAnswer.Failure(kind: .expired, code: "Expired", detail: nil)))
        let refused = Ending.refused(reason: .gateway("PayloadEmpty"), detail: "no text")
        #expect(
            Receipt.ended(refused).answer
                == .failed(SenderAnswer.Failure(kind: .other, code: "PayloadEmpty", detail: "no text")))
    }

    /// A gateway's word that is spelled like one of ours is still the gateway's: only those named here mean the same.
    @Test(arguments: [
        (Reason.messageTooLarge, FailureKind.messageTooLarge), (.gateway("MessageTooLarge"), .other),
        (.badDeviceToken, .malformedToken), (.gateway("BadDeviceToken"), .other),
        (.gateway("A", .unknownToken), .unknownToken), (.gateway("B", .foreignToken), .foreignToken),
        (.unknownApp, .notServed), (.gatewayDisabled, .notServed), (.gateway("UnknownApp"), .other),
        (.loop, .loop), (.notInPhoneBook, .other), (.badMessage, .other), (.duplicateUid, .other),
    ])
    func reasonsHaveTheirKinds(reason: Reason, kind: FailureKind) { #expect(reason.kind == kind) }

    /// What may be the fault of the settings or of the gateway is tried again, and what the node refuses by itself is not.
    @Test func aGatewaysRefusalIsNotRemembered() {
        for word in [
            "BadDeviceToken", "SENDER_ID_MISMATCH", "FAILED_PRECONDITION", "HTTP400", "PayloadEmpty",
        ] {
            #expect(!Ending.refused(reason: .gateway(word)).isRemembered)
            #expect(Ending.tokenDead(reason: .gateway(word)).isRemembered)
        }
        for reason in Reason.own { #expect(Ending.refused(reason: reason).isRemembered) }
    }
}
