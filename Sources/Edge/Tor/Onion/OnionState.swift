/// The state of the node in the Tor network.
package enum OnionState: Equatable, Sendable {
    /// Tor is being started or connected to.
    case connecting
    /// Tor has the key, and is on its way into the network.
    case bootstrapping(progress: Int, summary: String)
    /// Tor is in the network and makes the service known.
    case publishing
    /// Clients find the service.
    ///
    /// - Parameters:
    ///   - uploads: directories that have taken a descriptor, counted again for every repetition.
    ///   - since: milliseconds since 1970.
    case published(uploads: Int, since: Int64)
    /// The service was taken from us, or can't be made known; it is being mended.
    case lost(OnionLoss)
    case stopped

    package var isPublished: Bool {
        if case .published = self { true } else { false }
    }

    /// The kind of the state in one word. A change of the kind is counted and logged.
    package var word: String {
        switch self {
        case .connecting: "connecting"
        case .bootstrapping: "bootstrapping"
        case .publishing: "publishing"
        case .published: "published"
        case .lost: "lost"
        case .stopped: "stopped"
        }
    }
}

package enum OnionLoss: Error, Equatable, Sendable {
    /// There is no control connection: tor takes the service back at once.
    case control(ControlError)
    /// Our own tor ended, or doesn't start.
    case process(TorProcessError)
    /// No directory took a descriptor in time.
    case notUploaded(after: Duration)
    /// Calls to the own address did not get there, `calls` in a row; the text says why the last one did not.
    case unreached(calls: Int, String)
    /// Tor comes no further into the network.
    case notInNetwork(progress: Int, after: Duration)
    /// The machine slept for this time, and tor's circuits are gone.
    case suspended(for: Duration)

    /// One word for a metric.
    package var word: String {
        switch self {
        case .control: "control_connection"
        case .process: "process"
        case .notUploaded: "not_uploaded"
        case .unreached: "unreached"
        case .notInNetwork: "not_in_network"
        case .suspended: "suspended"
        }
    }
}

extension OnionState: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connecting: "connecting to tor"
        case .bootstrapping(let progress, let summary): "tor bootstraps: \(progress) %, \(summary)"
        case .publishing: "not published yet: tor makes the address known to its directories"
        case .published: "senders find the onion address in the Tor network"
        case .lost(let loss): "the onion service can't be reached: \(loss)"
        case .stopped: "stopped"
        }
    }
}

extension OnionLoss: CustomStringConvertible {
    package var description: String {
        switch self {
        case .control(let error): error.description
        case .process(let error): error.description
        case .notUploaded(let time): "no directory accepted its descriptor within \(time)"
        case .unreached(let calls, let words):
            "\(calls) consecutive calls to the node's own address failed, the last: \(words)"
        case .notInNetwork(let progress, let time):
            "tor's bootstrap has stayed at \(progress) % for \(time)"
        case .suspended(let time): "the machine slept for \(time.components.seconds) s"
        }
    }
}
