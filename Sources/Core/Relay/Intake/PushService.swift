import Encodings

/// A push service as the core sees it: what its addresses and payloads are like. A value that the folder of its gateway
/// brings (`Sources/Edge/Gateways`), one for each configured app.
///
/// Pure: it looks at texts and opens nothing.
package protocol PushService: Sendable {
    /// The name in settings, reports and metrics: `apns`.
    var name: String { get }
    /// The beginning of all its addresses, and of nobody else's: `wp1:`. Such an address goes to this service whatever app
    /// the sender names. `nil`: its apps are named, or stand in for a platform.
    var prefix: String? { get }
    /// Whether senders may name an app of this service for phones of this platform.
    func serves(_ platform: Platform) -> Bool
    /// Returns the target of an address; `nil`: it has not the form of this service's addresses.
    func target(_ address: String, on platform: Platform) -> Target?
    /// Returns the bytes that the service counts against
    /// ``payloadLimit``; `nil`: it carries nothing of the kind.
    func payloadSize(of content: Content) -> Int?
    var payloadLimit: Int { get }
    /// Returns the name of a host in reports, metrics and the log:
    /// one of few, never a text that a stranger chose.
    func shown(_ host: LaneHost) -> LaneHost
    /// Whether the service hands on to another relay: what was handed on once is not handed on again.
    var handsOn: Bool { get }
    /// Whether the service usually answers within a quarter of a second, so that what its
    /// sender waits for may be sent before it is stored.
    var answersSoon: Bool { get }
    /// Returns an address in the service's form that no phone has, for notifications that go all the way and
    /// reach nobody: the service refuses it, and only it can.
    func nobody(on platform: Platform) -> DeviceToken
}

extension PushService {
    package var prefix: String? { nil }
    package var payloadLimit: Int { Validator.payloadLimit }
    package func shown(_ host: LaneHost) -> LaneHost { host.isOrigin ? .others : host }
    package var handsOn: Bool { false }
    package var answersSoon: Bool { true }
}

/// An address in its one spelling, and the host that serves it.
package struct Target: Equatable, Sendable {
    package let deviceToken: DeviceToken
    package let host: LaneHost

    package init(_ deviceToken: DeviceToken, at host: LaneHost = .production) {
        self.deviceToken = deviceToken
        self.host = host
    }
}
