import Doors
import HTTP1
import Relay

/// What a sender is answered.
///
/// The kinds of failures are the core's and the same for every door and push service: no code of a service is read here,
/// only passed on. Each case is written out, so that a new kind does not compile until this door has an answer to it.
/// Find out first what a sender does on each status: which makes it forget the device, and which makes it come again.
enum SkeletonReceipt {
    static func response(to receipt: Receipt) -> HTTPResponse {
        switch receipt.answer {
        case .taken: HTTPResponse(status: 202)
        case .later(let busy): HTTPResponse(busy)
        case .failed(let failure): HTTPResponse(status: status(of: failure.kind), text: failure.code)
        }
    }

    private static func status(of kind: FailureKind) -> Int {
        switch kind {
        case .messageTooLarge: 413
        case .deadToken, .unknownToken: 410
        case .malformedToken, .foreignToken, .expired, .other: 400
        // They lie with this node: the sender must not forget the device for them.
        case .notServed: 503
        case .full: 507
        case .loop: 508
        }
    }
}
