import Clocks
import Encodings
import Relay
import Wire

extension Submission {
    init(_ request: consuming MobileNotificationRequest) {
        self.init(
            uid: request.uid, platform: request.platform, app: request.app,
            deviceToken: request.deviceToken, message: request.message, isUrgent: request.isUrgent,
            hasSound: request.hasSound, isMutableContent: request.isMutableContent,
            isContentAvailable: request.isContentAvailable,
            expiresAt: UnixTime(milliseconds: request.expiresAt))
        hops = Int(request.hops)
    }
}

extension MobileNotificationResponse {
    /// Makes this protocol's answer to a receipt; `nil` if it has none: there is no status for what is held or kept. A
    /// gateway's text is left out, since there is no field for it.
    ///
    /// - Parameter uid: The request's; one over the limit is cut, since it is only echoed.
    init?(_ receipt: Receipt, to uid: String) {
        let uid = uid.cut(toBytes: 64)
        switch receipt.answer {
        case .taken(.stored): self.init(requestUid: uid, status: .stored)
        case .taken(.held), .taken(.kept): return nil
        case .taken(.delivered): self.init(requestUid: uid, status: .delivered)
        case .later(let busy):
            self.init(
                requestUid: uid, status: .busy, reason: Reason.busy.code,
                retryAfterMilliseconds: max(1, busy.retryAfter.milliseconds))
        case .failed(let failure):
            self.init(requestUid: uid, status: Status(failure.kind), reason: failure.code)
        }
    }
}

extension MobileNotificationResponse.Status {
    fileprivate init(_ kind: FailureKind) {
        switch kind {
        case .deadToken: self = .tokenDead
        case .expired: self = .expired
        case .messageTooLarge, .malformedToken, .unknownToken, .foreignToken, .notServed, .loop, .full,
            .other:
            self = .refused
        }
    }
}
