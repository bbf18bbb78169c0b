import Encodings
import Relay
import Wire

extension Submission {
    init(_ request: consuming MobileNotificationRequest) {
        self.init(
            uid: request.uid, platform: request.platform.map(Platform.init), app: request.app,
            deviceToken: request.deviceToken, message: request.message, isUrgent: request.isUrgent,
            hasSound: request.hasSound, isMutableContent: request.isMutableContent,
            isContentAvailable: request.isContentAvailable, expiresAt: request.expiresAt)
        hops = Int(request.hops)
    }
}

extension Platform {
    init(_ platform: MobilePlatform) {
        switch platform {
        case .ios: self = .ios
        case .iosDev: self = .iosDev
        case .android: self = .android
        }
    }
}

extension MobileNotificationResponse {
    /// - Parameter uid: As the request gave it; one over the limit is cut, since it only echoes.
    ///
    /// `nil` for what this protocol doesn't tell: it has no field for a gateway's text and no status for what is held.
    init?(_ receipt: Receipt, to uid: String) {
        let uid = uid.cut(toBytes: 64)
        switch receipt {
        case .stored: self.init(requestUid: uid, status: .stored)
        case .held: return nil
        case .busy(let busy):
            self.init(
                requestUid: uid, status: .busy, reason: Reason.busy.code,
                retryAfterMilliseconds: max(1, busy.retryAfter.milliseconds))
        case .ended(.delivered): self.init(requestUid: uid, status: .delivered)
        case .ended(.refused(let reason, _)):
            self.init(requestUid: uid, status: .refused, reason: reason.code)
        case .ended(.tokenDead(let reason, _)):
            self.init(requestUid: uid, status: .tokenDead, reason: reason.code)
        case .ended(.expired): self.init(requestUid: uid, status: .expired, reason: Reason.expired.code)
        }
    }
}
