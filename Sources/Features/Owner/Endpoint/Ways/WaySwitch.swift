import Doors
import Encodings
import Gateways
import Node
import Overview
import Reactor

/// A way to phones that the console switches on and off.
///
/// A value: of the settings it makes the text that has the way, or has it no more. It opens and writes nothing.
enum WaySwitch: String, CaseIterable, Sendable {
    /// Phones fetch from the node's onion address.
    case mailbox
    /// Browsers are rung by Web Push.
    case browsers
    /// The node serves the page by which a phone without an app is rung.
    case phonePage = "phone_page"
    /// Phones with ntfy's app are rung by a server of the owner's choice.
    case ntfy
    /// Bisq's app on phones of Apple's, by a key of its maker's.
    case apple
    /// Bisq's app on phones of Google's, by a service account of its maker's.
    case google

    /// The people who can reach the node by a way.
    enum Reach: String, CaseIterable, Sendable {
        /// The node itself calls out.
        case nobody
        /// Programs of this machine, as a reverse proxy.
        case machine
        /// All who know the onion address.
        case onion
        /// All who reach a port of this machine.
        case world
    }

    /// The state of a way in the node that runs.
    enum State: Equatable, Sendable {
        case off
        /// Switched on, and something has to come first.
        case coming(String)
        case on
        case failing(String)

        static let words = ["off", "coming", "on", "failing"]

        var word: String {
            switch self {
            case .off: "off"
            case .coming: "coming"
            case .on: "on"
            case .failing: "failing"
            }
        }

        /// The words for what has to come first, or for the fault.
        var reason: String? {
            switch self {
            case .coming(let reason), .failing(let reason): reason
            case .off, .on: nil
            }
        }
    }

    // MARK: Reading

    var gateway: String {
        switch self {
        case .mailbox: rawValue
        case .browsers, .phonePage: WebPushApp.gateway
        case .ntfy: NtfyApp.gateway
        case .apple: "apns"
        case .google: "fcm"
        }
    }

    func isOn(in settings: Settings) -> Bool {
        guard !apps(in: settings).isEmpty else { return false }
        return switch self {
        case .mailbox, .phonePage: !places(in: settings).isEmpty
        case .browsers, .ntfy: true
        case .apple, .google: apps(in: settings).contains(where: \.hasCredentials)
        }
    }

    /// Returns the places at which others reach the node by the way.
    func places(in settings: Settings) -> [DoorPlace] {
        switch self {
        case .mailbox: settings.feature(named: rawValue)?.listen ?? []
        case .phonePage: settings.feature(named: rawValue)?.listen ?? []
        case .browsers, .ntfy, .apple, .google: []
        }
    }

    func reach(in settings: Settings) -> Reach {
        let places = places(in: settings)
        if places.contains(where: { !$0.isLocal && !$0.isOnion }) { return .world }
        if places.contains(where: \.isOnion) { return .onion }
        return places.isEmpty ? .nobody : .machine
    }

    /// Returns the address that its owner has given: of the page, or of the ntfy server; empty: none.
    func address(in settings: Settings) -> String {
        switch self {
        case .mailbox, .browsers, .apple, .google: ""
        case .phonePage: settings.feature(named: rawValue)?.url ?? ""
        case .ntfy: (apps(in: settings).first?.settings as? NtfyApp)?.url.map { "\($0)" } ?? ""
        }
    }

    /// Returns the state of the way in a node with these settings, by its own report.
    func state(in settings: Settings, _ report: Report) -> State {
        guard isOn(in: settings) else { return .off }
        let names = apps(in: settings).map(\.name)
        for lane in report.lanes where names.contains(lane.app) {
            if let fault = lane.credentialFault { return .failing(fault) }
            if let reason = lane.fault {
                return .failing([reason, lane.blockedAdvice].compactMap(\.self).joined(separator: ": "))
            }
        }
        guard reach(in: settings) == .onion, report.onion.state != .published else { return .on }
        return .coming(report.onion.sentence)
    }

    func apps(in settings: Settings) -> [Settings.App] {
        settings.apps.filter { $0.service.name == gateway }
    }

    // MARK: Switching

    /// Returns the settings' text with the way.
    ///
    /// - Parameters:
    ///   - settings: Those of the text.
    ///   - address: The page's, as phones find it, or the ntfy server's. Other ways have none.
    ///   - free: Those of ``localPlaces`` at which the node could listen.
    func on(
        _ text: String, _ settings: Settings, at address: String, free: [Endpoint]
    ) throws(SettingsEdit.Refusal) -> String {
        var text = text
        if apps(in: settings).isEmpty {
            var members = [("name", newName(in: settings)), ("gateway", gateway)]
            if self == .ntfy { members.append(("url", address)) }
            text = try SettingsEdit.addApp(members, to: text)
        }
        switch self {
        case .browsers, .ntfy, .apple, .google: return text
        case .mailbox:
            guard places(in: settings).isEmpty else { return text }
            let taken = settings.onionPorts
            let port = (Self.firstOnionPort...UInt16.max).first { !taken.contains($0) } ?? Self.firstOnionPort
            return try SettingsEdit.set(
                "doors.mailbox.listen", to: "[onion:\(port)]", mayBeList: true, in: text)
        case .phonePage:
            let page = PageAddress(address)
            guard places(in: settings).isEmpty || self.address(in: settings) != page.text else { return text }
            text = try SettingsEdit.set(
                "doors.phone_page.listen", to: "[\(page.place(in: settings, free: free))]",
                mayBeList: true, in: text)
            return try SettingsEdit.set("doors.phone_page.url", to: page.text, in: text)
        }
    }

    /// Returns the settings' text with Apple's or Google's service, by a credential.
    ///
    /// - Parameter settings: Those of the text.
    func on(
        _ text: String, _ settings: Settings, by credential: WayCredential
    ) throws(SettingsEdit.Refusal) -> String {
        guard let app = app(for: credential, in: settings) else {
            var members = [("name", newName(in: settings)), ("gateway", gateway)] + credential.values
            if self == .apple, !members.contains(where: { $0.0 == "topic" }) {
                members.append(("topic", credential.topic ?? Self.bisqRemote))
            }
            return try SettingsEdit.addApp(members, to: text)
        }
        var text = text
        for (key, value) in credential.values {
            text = try SettingsEdit.set("apps[\(app.name)].\(key)", to: value, in: text)
        }
        return text
    }

    /// Returns the app of the settings that a credential is for: the one that has no other, as the sample's; `nil`: a new one.
    func app(for credential: WayCredential, in settings: Settings) -> Settings.App? {
        let apps = apps(in: settings)
        let known = apps.first { $0.settings.secretFiles.contains(credential.path) }
        return known ?? apps.first { !$0.hasCredentials }
    }

    /// Returns the settings' text without the way.
    func off(_ text: String, _ settings: Settings) throws(SettingsEdit.Refusal) -> String {
        var text = text
        if self == .browsers, WaySwitch.phonePage.isOn(in: settings) {
            text = try WaySwitch.phonePage.off(text, settings)
        }
        switch self {
        case .mailbox where !places(in: settings).isEmpty:
            text = try SettingsEdit.set("doors.mailbox.listen", to: "[]", mayBeList: true, in: text)
        case .phonePage:
            text = try SettingsEdit.set("doors.phone_page.listen", to: "[]", mayBeList: true, in: text)
            guard !address(in: settings).isEmpty else { return text }
            return try SettingsEdit.set("doors.phone_page.url", to: "", in: text)
        case .mailbox, .browsers, .ntfy, .apple, .google: break
        }
        for app in apps(in: settings) { text = try SettingsEdit.removeApp(app.name, from: text) }
        return text
    }

    /// The bundle id of Bisq's app for Apple's phones.
    private static let bisqRemote = "bisqremote.joachimneumann.com"
    private static let firstOnionPort: UInt16 = 8030
    /// The places for a page behind a reverse proxy, the usual one first.
    static let localPlaces = (8080...8099).map { Endpoint.host("127.0.0.1", port: $0) }

    private func newName(in settings: Settings) -> String {
        let usual =
            switch self {
            case .mailbox: "mailboxes"
            case .browsers, .phonePage: "browsers"
            case .ntfy: "ntfy"
            case .apple: "bisq-remote-ios"
            case .google: "bisq-remote-android"
            }
        let names = settings.apps.map(\.name)
        return ([usual] + (2...99).map { "\(usual)-\($0)" }).first { !names.contains($0) } ?? usual
    }
}

/// The address of the phone's page, as its owner enters it.
private struct PageAddress {
    /// The address, with the path at which the node serves the page where none was given.
    let text: String
    private let port: UInt16
    private let isSecure: Bool

    init(_ entered: String) {
        let scheme = ["https://", "http://"].first { entered.hasPrefix($0) } ?? ""
        let rest = entered.dropFirst(scheme.count)
        let host = String(
            decoding: rest.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1).first ?? [], as: UTF8.self)
        let hasPath = rest.utf8.count > host.utf8.count + 1
        text = hasPath || scheme.isEmpty ? entered : "\(scheme)\(host)/phone/"
        isSecure = scheme == "https://"
        if case .host(_, let port)? = Endpoint(host) {
            self.port = port
        } else {
            port = isSecure ? 443 : 80
        }
    }

    /// Returns the place at which the node serves the page: for the world where it has a certificate, else for a reverse
    /// proxy of this machine. A page of `http://localhost` is for a try.
    func place(in settings: Settings, free: [Endpoint]) -> String {
        if isSecure, !settings.doors.certificateFile.isEmpty { return "https://0.0.0.0:\(port)" }
        guard isSecure else { return "127.0.0.1:\(port)" }
        let known = settings.listeners.map(\.endpoint)
        return "\(free.first { !known.contains($0) } ?? WaySwitch.localPlaces[0])"
    }
}

extension Settings {
    /// The ports of the onion address that lead somewhere.
    fileprivate var onionPorts: [UInt16] {
        let places = features.flatMap(\.places).flatMap(\.places)
        return onion.httpPorts + [onion.peerPort]
            + places.compactMap { if case .onion(let port) = $0 { port } else { nil } }
    }
}
