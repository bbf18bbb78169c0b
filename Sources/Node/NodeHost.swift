import Clocks
import Reactor
import Tor

/// The process of a node, as far as the node knows it.
package struct NodeHost {
    /// The file that the settings were read from.
    package let settingsFile: String
    /// The reason why these are not the settings of the file: with those a restart in place failed.
    package let settingsFault: String?
    /// The time at which the node before this one took nothing more, where this is a restart in place.
    let restartedSince: MonotonicTime?
    /// Whether other settings are tried when the start fails.
    let canGoBack: Bool
    let level: LogLevel
    /// Called once the address can be reached for the first time.
    let onPublished: @EventLoop (_ address: String, _ ports: [UInt16]) -> Void
    /// Called with every change of the onion service's state.
    let onOnionState: @EventLoop (OnionState) -> Void
}
