import Calls
import Doors
import Logging
import Node
import Persistence
import Processes
import Reactor

/// The owner's view of his node and his hold on it, as the settings want them: the console, its calls, and copies of the node.
///
/// The calls are there without the console too, for commands over the socket in the state directory.
package struct OwnerFeature: NodeFeature, FeatureWithCalls {
    package static let name = "owner"
    package static let section = "console"

    package var console: Settings.Console

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        console = settings.console(section)
    }

    package var connections: Int { console.listen.count * NodeConsole.mostConnections }
    package var changesSettings: Bool { console.isOn }

    package var listeners: [(key: String, endpoint: Endpoint)] {
        var listeners: [(key: String, endpoint: Endpoint)] = []
        for place in console.listen {
            switch place {
            case .local(let endpoint), .https(let endpoint): listeners.append(("console.listen", endpoint))
            case .onion: break
            }
        }
        if let proxied = console.proxied { listeners.append(("console.proxied.listen", proxied.listen)) }
        if let widgets = console.widgets { listeners.append(("console.widgets.listen", widgets.listen)) }
        return listeners
    }

    package var faultsOfPlaces: [SettingsFault] {
        [
            console.proxied?.networkFault(isOwn: NetworkOfApp.isOwn),
            console.widgets?.networkFault(isOwn: NetworkOfApp.isOwn),
        ].compactMap(\.self)
    }

    package static func prepareStart(
        with settings: Settings, of file: String, log: Logger
    ) throws(NodeError) -> Bool {
        switch try MovingIn.finish(settings, settingsFile: file) {
        case .nothingToDo: return false
        case .moved(let address, let conflicts):
            log.notice(
                "restore.finished", metadata: ["address": "\(address)", "not_taken": "\(conflicts)"])
            return true
        case .refused(let reason):
            log.error("restore.refused", metadata: ["reason": "\(reason)"])
            return false
        }
    }

    package static func takeBackStart(
        in stateDirectory: String, of kinds: DoorKinds, because reason: String
    ) throws(NodeError) -> Bool {
        try MovedOut.goBack(in: stateDirectory, of: kinds, because: reason)
    }

    package static func keepStart(in stateDirectory: String) { MovedOut.forget(in: stateDirectory) }

    package func companion(of node: RelayNode, state: borrowing StateDirectory) -> any NodeCompanion {
        OwnerCompanion(of: node, console: console.isOn ? NodeConsole(state: state, log: node.log) : nil)
    }
}

extension Settings {
    /// The owner's pages, as these settings want them.
    package var console: Console {
        get { feature(OwnerFeature.self)?.console ?? Console() }
        set {
            guard let index = features.firstIndex(where: { $0 is OwnerFeature }),
                var feature = features[index] as? OwnerFeature
            else { return }
            feature.console = newValue
            features[index] = feature
        }
    }
}
