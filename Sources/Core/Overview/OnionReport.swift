import Clocks
import Figures

/// Tor and the onion service. Times are milliseconds since 1970; `nil`: never, or not known.
package struct OnionReport: Equatable, Sendable {
    /// The state of the onion service in the Tor network. The raw values stand in metrics and JSON.
    package enum State: String, CaseIterable, Sendable {
        case connecting, bootstrapping, publishing, published, lost, stopped

        /// Whether the service is being made known, as it is after a start.
        var isOnItsWay: Bool {
            switch self {
            case .connecting, .bootstrapping, .publishing: true
            case .published, .lost, .stopped: false
            }
        }
    }

    /// The address that clients use, with its `.onion`; `nil`: it is not made yet.
    package var address: String?
    /// The node's own address: ``address``, unless an onionbalance stands before the node.
    package var ownAddress: String?
    /// Whether ``address`` is that of an onionbalance before the node.
    package var isBehindFront: Bool { ownAddress != nil && ownAddress != address }
    /// The ports at which clients call.
    package var ports: [UInt16] = []
    /// The number of peers who are invited to a private node; `nil`: everybody may call.
    package var invited: Int?
    /// The words about who may call, where not everybody may.
    package var privacy: String? {
        invited.map { "private: only \(Words.count($0, of: "invited peer")) can reach it" }
    }
    package var state = State.connecting
    /// The state of the onion service, in words.
    package var sentence = ""
    package var qrCode: Modules?

    package var isConnected = false
    package var version: String?
    /// The progress of tor's bootstrap in percent.
    package var bootstrap: Int?
    package var isNetworkLive: Bool?
    package var hasCircuit: Bool?
    /// Seconds by which this machine's clock is ahead, as tor said; `nil`: it said nothing.
    package var clockSkew: Int?
    package var introductionPoints = 0
    package var clientCircuits = 0
    package var lastClient: UnixTime?
    package var torStarts = 0
    package var publications = 0
    package var losses = WordCounts()
    package var suspensions = 0
    package var uploads = 0
    package var uploadFailures = WordCounts()
    package var lastUpload: UnixTime?

    package var selfDials = 0
    package var selfDialFailures = 0
    package var lastSelfDial: UnixTime?
    package var lastSelfDialTime: Duration?
    package var selfDialFailure: String?

    package init() {}
}
