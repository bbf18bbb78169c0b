import Doors
import Encodings
import Glibc
import HTTP1
import Logging
import Node
import Reactor

/// The console of a node: its listeners, the link for an owner who has not entered yet, and what is written down of its
/// owner.
///
/// As long as the node has no owner, the file `console-link` has a link that is renewed before it ends, and the one before it
/// is not good any more. With the owner the timer stops and the file goes.
@EventLoop
final class NodeConsole {
    let login: ConsoleLogin
    let log: Logger
    /// The events for pages that are open.
    let events = ConsoleEvents()
    var widgets: WidgetTokens
    let widgetFile: String
    /// Changes of the tokens for widgets: each is on the disk, or is not so, before the next one begins.
    let widgetChanges = InOrder()
    private let linkFile: String
    var servers: [HTTPServer] = []
    /// The first of each listener, then those of the settings: where a link leads.
    var linkOrigins: [String] = []
    /// The onion listener; `nil`: there is none.
    var onion: ConsoleOnion?
    /// The settings' file as it was at the last look; `nil`: no page has listened since.
    private var mark: SettingsMark??
    private let timer = Timer()
    private var isStopped = false

    /// The time after which the link in the file is renewed. It is shorter than a link's life.
    private let renewal: Duration

    init(state: borrowing StateDirectory, renewal: Duration = .seconds(10 * 60), log: Logger) {
        (self.renewal, self.log) = (renewal, log)
        linkFile = state.consoleLink
        widgetFile = state.consoleWidgets
        let read = WidgetTokenFile.read(widgetFile)
        widgets = read.tokens
        if let fault = read.fault {
            log.error("console.widgets_unreadable", metadata: ["reason": "\(fault)"])
        }
        let ownerFile = state.consoleOwner
        var saved: ConsoleAccess.Saved?
        do throws(ConsoleOwnerFile.Fault) {
            saved = try ConsoleOwnerFile.read(ownerFile)
        } catch {
            // Whoever damages it must not become the owner by it.
            saved = ConsoleAccess.Saved()
            log.error(
                "console.owner_unreadable",
                metadata: [
                    "reason": "\(error)",
                    "advice": "enter by onionbell console link, and set the passphrase anew",
                ])
        }
        login = ConsoleLogin(saved) { saved in
            guard let error = await PrivateFile.replace(ownerFile, with: ConsoleOwnerFile.text(saved))
            else { return }
            log.error("console.write_failed", metadata: ["reason": "\(error)"])
        }
        timer.action = { [unowned self] in Task { [weak self] in _ = await self?.makeLinks() } }
        login.onEntered = { [unowned self] way, isFirst in
            log.notice("console.entered", metadata: ["by": "\(way.rawValue)"])
            if isFirst { gotOwner() }
        }
    }

    /// Begins to listen, and writes the link down if there is no owner.
    func open(at site: Site, _ settings: Settings) throws(NodeError) {
        for place in settings.console.listen { try open(on: place, at: site, settings) }
        if let proxied = settings.console.proxied { try open(proxied, at: site, settings) }
        if let widgets = settings.console.widgets { try open(widgets, at: site, settings) }
        let hasLogin = !settings.console.listen.isEmpty || settings.console.proxied?.isTrusted == false
        if hasLogin { linkOrigins += settings.console.origins }
        if login.hasOwner || linkOrigins.isEmpty { return removeLinkFile() }
        Task { _ = await makeLinks() }
    }

    /// Tells pages that are open when the settings' file is another one, whoever has written it.
    func look(at settingsFile: String) async {
        let found = await SettingsMark.of(settingsFile)
        let before = mark
        mark = .some(found)
        if let before, before != found { events.changed(.state) }
    }

    // MARK: Links

    /// Links that are good once and for a quarter of an hour, one for each address of the console. Those before it are not.
    func makeLinks() async -> [String] {
        guard !linkOrigins.isEmpty else { return [] }
        let text = login.makeLink()
        let links = linkOrigins.map { "\($0)/#enter=\(text)" }
        guard !login.hasOwner, !isStopped else { return links }
        // Whoever was told this one has it for all of its life: the next one is as far away as after any.
        timer.start(after: renewal)
        // The link that the file has is none any more.
        await write(links)
        return links
    }

    private func write(_ links: [String]) async {
        let text = links.map { $0 + "\n" }.joined()
        if let error = await PrivateFile.replace(linkFile, with: Array(text.utf8)) {
            return log.error("console.write_failed", metadata: ["reason": "\(error)"])
        }
        // Somebody may have entered meanwhile.
        if login.hasOwner { return removeLinkFile() }
        log.notice("console.link_written", metadata: ["file": "\(linkFile)"])
    }

    private func gotOwner() {
        timer.stop()
        removeLinkFile()
    }

    private func removeLinkFile() {
        let file = linkFile
        Task { await NodeConsole.remove(file) }
    }

    @FileThread
    private static func remove(_ path: String) { unlink(path) }

    /// Tells a link once it can be opened, if there is no owner. The one in the file is then another one too.
    func tellLink(_ tell: @escaping @EventLoop (_ link: String) -> Void) {
        let make: @EventLoop () -> Void = { [unowned self] in
            guard !login.hasOwner else { return }
            Task { [weak self] in for link in await self?.makeLinks() ?? [] { tell(link) } }
        }
        if let onion { onion.whenPublished(make) } else { make() }
    }

    func close() async {
        isStopped = true
        timer.stop()
        onion?.close()
        await events.close()
        for server in servers { await server.close() }
    }
}
