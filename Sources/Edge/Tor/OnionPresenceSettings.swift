import Reactor

/// The tor that publishes the onion service, the key of its address, and the times that tor may take.
package struct OnionPresenceSettings: Sendable {
    package enum Source: Sendable {
        /// A child process, from the project's `torrc`.
        case own(TorProcessSettings)
        /// A tor that runs already; `isOurs`: nobody but this node uses it, and its service manager
        /// starts it again.
        case running(control: Endpoint, ControlCredentials, isOurs: Bool = false)

        /// Whether nobody else uses this tor.
        var isOurs: Bool {
            switch self {
            case .own: true
            case .running(_, _, let isOurs): isOurs
            }
        }

        var isChild: Bool { if case .own = self { true } else { false } }
    }

    package var source: Source
    package var key: OnionKeyFile
    /// The form in which the service is given to tor, how it holds against floods, and whom it lets in.
    package var form = OnionForm()
    /// The time for which ``OnionPresence/start(_:beside:)`` waits for a system's tor that is not there
    /// yet.
    package var startTime = Duration.seconds(30)
    /// The time that tor may take to upload a descriptor, or to come any further into the network, before
    /// something is done about it.
    package var uploadTime = Duration.seconds(180)
    /// The time between two questions to tor how it is.
    package var heartbeat = Duration.seconds(20)
    /// The time that tor may take to answer; a tor that takes longer hangs.
    package var heartbeatDeadline = Duration.seconds(10)
    /// The wait after tor was started anew in vain; see ``Mending``.
    package var mendingPause = Duration.seconds(300)
    /// Calls to the own address.
    package var selfDial = SelfDialSettings()
    /// The place at which the system's tor takes SOCKS connections; `nil`: where it says.
    package var socks: Endpoint?
    /// Nanoseconds for which the machine has slept since its start.
    package var sleptNanoseconds: @Sendable () -> Int64 = { EventLoop.sleptNanoseconds }

    package init(source: Source, key: OnionKeyFile) {
        self.source = source
        self.key = key
    }
}
