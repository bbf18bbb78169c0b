import Doors
import Encodings
import HTTP1
import JSONCoding
import Relay

/// A request's body, read: `{"device":"…","message":"…"}` (name the protocol's document here).
///
/// A value made of a stranger's bytes. Each wrong form throws, and none traps. The texts are bounded by the body, which is
/// bounded by the server; they are neither hashed nor compared here, and no error repeats them.
struct SkeletonMessage: Equatable {
    enum Fault: Error, Equatable {
        case notJSON
        case withoutDevice
        case withoutMessage

        var text: String {
            switch self {
            case .notJSON: "the body is no JSON object"
            case .withoutDevice: "device must be a text"
            case .withoutMessage: "message must be a text"
            }
        }
    }

    let device: String
    let message: String

    init(_ request: HTTPRequest) throws(Fault) {
        guard let body = try? JSON.members(of: request.body) else { throw .notJSON }
        guard let device = body.value(of: "device")?.string else { throw .withoutDevice }
        guard let message = body.value(of: "message")?.string else { throw .withoutMessage }
        self.device = device
        self.message = message
    }

    /// Whether the device has the form of an address, and whether the message fits, the core says.
    func submission(to settings: SkeletonDoorSettings) -> Submission {
        Submission(
            platform: .android, app: settings.app, deviceToken: device, message: message, isUrgent: true,
            isContentAvailable: true)
    }
}
