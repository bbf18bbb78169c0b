import Doors
import Encodings
import Glibc
import HTTP1
import Logging
import Reactor

/// The console of a node: its listeners, the link for whoever has none yet, and what is written down of its owner.
///
/// As long as the node has no owner, the file `console-link` has a link that is renewed before it ends, and the one before it
/// is not good any more. With the owner the timer stops and the file goes.
@EventLoop
final class NodeConsole {
    private let entry: ConsoleEntry
    private let log: Logger
    private let linkFile: String
    private var servers: [HTTPServer] = []
    /// The first of each listener, then those of the settings: where a link leads.
    private var linkOrigins: [String] = []
    private var timer: Timer!
    private var isStopped = false

    private static let renewal: Duration = .seconds(10 * 60)

    init(state: borrowing StateDirectory, log: Logger) {
        self.log = log
        linkFile = state.consoleLink
        let ownerFile = state.consoleOwner
        var kept: ConsoleEntrance.Kept?
        do throws(ConsoleOwnerFile.Fault) {
            kept = try ConsoleOwnerFile.read(ownerFile)
        } catch {
            // Whoever damages it must not become the owner by it.
            kept = ConsoleEntrance.Kept()
            log.error(
                "console.owner_unreadable",
                metadata: [
                    "reason": "\(error)",
                    "advice": "enter by onionbell console link, and set the passphrase anew",
                ])
        }
        entry = ConsoleEntry(kept) { kept in
            guard let error = await ConsoleOwnerFile.write(kept, to: ownerFile) else { return }
            log.error("console.write_failed", metadata: ["reason": "\(error)"])
        }
        timer = Timer { [unowned self] in renew() }
        entry.onEntered = { [unowned self] way, isFirst in
            log.notice("console.entered", metadata: ["by": "\(way.rawValue)"])
            if isFirst { hasOwnerNow() }
        }
    }

    /// Begins to listen, and writes the link down if there is no owner.
    func open(
        _ settings: Settings, calls: any HTTPDoor, stateText: @escaping @EventLoop () -> [UInt8]
    ) throws(NodeError) {
        for place in settings.console.listen {
            try open(on: place, settings, calls, stateText)
        }
        linkOrigins += settings.console.origins
        if entry.hasOwner { return removeLinkFile() }
        renew()
    }

    private func open(
        on place: Endpoint, _ settings: Settings, _ calls: any HTTPDoor,
        _ stateText: @escaping @EventLoop () -> [UInt8]
    ) throws(NodeError) {
        // Its origins are known when it has its port, and nobody is served before.
        var door: ConsoleDoor?
        var http = settings.http
        http.connections = 64
        http.connectionsPerAddress = 0
        var circuits = Circuits.Settings.addresses(connections: 0)
        circuits.areShared = true
        let server = HTTPServer(
            settings: http, circuits: Circuits(settings: circuits), refusal: ConsoleDoor.refusal
        ) { request, respond in
            door?.answer(request, respond: respond)
        }
        let opened: Endpoint
        do {
            opened = try server.open(on: place)
        } catch {
            throw .unavailable(
                "\(error). Stop the program that uses it, or set console.listen to another address")
        }
        servers.append(server)
        let own = NodeConsole.origins(of: opened)
        linkOrigins += own.prefix(1)
        door = ConsoleDoor(
            origins: own + settings.console.origins, cookie: NodeConsole.cookie(of: opened), entry: entry,
            calls: calls, stateText: stateText
        ) { $0 == ConsolePage.description ? nil : await ConsolePage.read($0) }
    }

    /// The most usual first; none for a Unix socket, which no browser finds by itself.
    nonisolated static func origins(of place: Endpoint) -> [String] {
        guard case .host(let host, let port) = place else { return [] }
        let names = ["127.0.0.1", "localhost"].contains(host) ? ["127.0.0.1", "localhost"] : [host]
        return names.map { name in
            let authority = Endpoint.host(name, port: port).description
            return "http://" + (port == 80 ? String(authority.dropLast(":80".utf8.count)) : authority)
        }
    }

    private static func cookie(of place: Endpoint) -> String {
        guard case .host(_, let port) = place else { return "onionbell" }
        return "onionbell-\(port)"
    }

    // MARK: Links

    /// Links that are good once and for a quarter of an hour, one for each address of the console. Those before it are not.
    func makeLinks() async -> [String] {
        let text = entry.makeLink()
        let links = linkOrigins.map { "\($0)/#enter=\(text)" }
        // The link that the file has is none any more.
        if !entry.hasOwner { await write(links) }
        return links
    }

    private func renew() {
        guard !isStopped, !entry.hasOwner else { return }
        timer.start(after: NodeConsole.renewal)
        Task { _ = await makeLinks() }
    }

    private func write(_ links: [String]) async {
        let text = links.map { $0 + "\n" }.joined()
        if let error = await NodeConsole.write(text, to: linkFile) {
            return log.error("console.write_failed", metadata: ["reason": "\(error)"])
        }
        // Somebody may have entered meanwhile.
        if entry.hasOwner { return removeLinkFile() }
        log.notice("console.link_written", metadata: ["file": "\(linkFile)"])
    }

    private func hasOwnerNow() {
        timer.stop()
        removeLinkFile()
    }

    private func removeLinkFile() {
        let file = linkFile
        Task { await NodeConsole.remove(file) }
    }

    @FileThread
    private static func write(_ text: String, to path: String) -> SystemError? {
        do throws(SystemError) {
            try PrivateFile.write(text, to: path, replacing: true)
            return nil
        } catch {
            return error
        }
    }

    @FileThread
    private static func remove(_ path: String) { unlink(path) }

    func close() async {
        isStopped = true
        timer.stop()
        for server in servers { await server.close() }
    }
}
