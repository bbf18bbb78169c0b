import Encodings
import Relay

/// The destination of a path, as Bisq's relay has it.
enum RelayRoute: Equatable {
    /// `/relay`: Bisq 1.
    case get
    /// `/v1/{apns|fcm}[/device/{token}]`: Bisq 2. The token is as sent, percent-encoded; `nil`: it is in the body.
    case post(Platform, token: Substring?)

    /// Reads the route of a path; `nil` for every other path.
    init?(path: String) {
        if let token = path.dropping(prefix: "/v1/apns/device/") {
            self = .post(.ios, token: token)
        } else if let token = path.dropping(prefix: "/v1/fcm/device/") {
            self = .post(.android, token: token)
        } else {
            switch path {
            // One client of Bisq 1's network writes two slashes.
            case "/relay", "//relay": self = .get
            case "/v1/apns": self = .post(.ios, token: nil)
            case "/v1/fcm": self = .post(.android, token: nil)
            case _: return nil
            }
        }
    }
}

extension String {
    /// Returns the text behind a prefix; `nil` where there is none.
    fileprivate func dropping(prefix: String) -> Substring? {
        // Bytes, not characters: nothing has to be looked up in Unicode's tables.
        guard utf8.count > prefix.utf8.count, hasPrefix(prefix) else { return nil }
        return Substring(utf8.dropFirst(prefix.utf8.count))
    }
}
