import Client
import Glibc
import HTTP1
import JSONCoding
import Node
import Processes
import Reactor
import Terminal
import Tor

#if Database
    import DatabaseCommands
#endif

/// Looks at a configured node and all that surrounds it, from its files to Apple and Google, and tells each finding as
/// it comes.
///
/// It changes nothing, and works beside a running node: the outbox is left alone, and what it needs of Tor it gets from
/// a tor of its own in a temporary directory, or from the system's.
@EventLoop
final class Doctor {
    let settings: Settings
    /// The configuration's path.
    let file: String
    /// A tor to dial by; `nil`: one of its own, or the system's where the node uses that.
    let socks: Endpoint?
    /// The node that runs with this configuration.
    private(set) var node: StateDirectory.Running?
    /// The node's unit; `nil`: there is none, or it has another configuration.
    private var unit: NodeUnit?
    /// The user for whom files are judged.
    private(set) var user = NodeUser.current
    /// Whether the node that runs has reached its own address lately.
    private(set) var isSelfDialWell = false
    /// Files of credentials that only systemd hands to the node: this user can't look into them.
    private var closed: [String] = []
    /// The tor that was started for this, and the directory that it keeps its files in.
    var ownTor: (client: TorClient, directory: TemporaryDirectory)?
    /// The place at which the tor that was looked at takes SOCKS connections; `nil`: there is none, or it is not in the
    /// network.
    var torSocks: Endpoint?
    private let report: @EventLoop (Finding) -> Void
    /// Says what is being done now, where it takes long.
    let progress: @EventLoop (String) -> Void

    init(
        _ settings: Settings, file: String, socks: Endpoint?, report: @escaping @EventLoop (Finding) -> Void,
        progress: @escaping @EventLoop (String) -> Void
    ) {
        self.settings = settings
        self.file = file
        self.socks = socks
        self.report = report
        self.progress = progress
    }

    func tell(_ finding: Finding) { report(finding) }

    func run() async {
        tell(.pass("configuration", "\(file) has no errors"))
        node = try? StateDirectory.runningNode(in: settings.stateDirectory)
        unit = await NodeUnit.find(for: file)
        user = NodeUser.find(for: settings, node: node, unit: unit)
        closed = settings.closedCredentials
        checkCredentialFiles()
        checkPermissions()
        for open in settings.features.flatMap(\.openPlaces) {
            tell(.warn("endpoints", open.sentence, open.advice))
        }
        checkDisk()
        checkState()
        #if Database
            for finding in DatabaseFindings.find(settings) { tell(finding) }
        #endif
        await checkNode()
        checkLimits()
        await checkTor()
        for app in settings.apps where app.hasCredentials {
            await check(app)
        }
        await checkWebPush()
        await ownTor?.client.stop()
        await ownTor?.directory.remove()
    }

    // MARK: Files

    private func checkCredentialFiles() {
        let faults = GatewayAssembly.faults(in: settings, except: closed)
        if !closed.isEmpty {
            tell(
                .warn(
                    "credentials",
                    "this user can't look into \(closed.count == 1 ? closed[0] : "\(closed.count) files"), which systemd passes to the node",
                    "run this as root to have them checked: sudo onionbell doctor"))
        }
        for fault in faults {
            tell(.fail("credentials", "\(fault)", "replace the file by the right one, or correct \(file)"))
        }
        for app in settings.apps {
            if !app.hasCredentials {
                tell(
                    .warn(
                        "credentials", "\(app.name) has none, so notifications for it are refused",
                        "name its files in \(file), or remove the app; the phone apps that Bisq publishes need none: onionbell init --bisq --config bisq.yaml writes them into a file of that name, to be copied from there"
                    ))
            } else if let doubt = app.settings.doubt {
                tell(.warn("credentials", "\(app.name): \(doubt.words)", doubt.advice))
            }
        }
        if settings.apps.isEmpty {
            tell(.warn("credentials", "there are no apps", "every notification will be refused: add apps"))
        } else if faults.isEmpty, closed.isEmpty, settings.apps.contains(where: \.hasCredentials) {
            tell(.pass("credentials", "keys and certificates can be read"))
        }
    }

    private func checkPermissions() {
        var faults: [String] = []
        let secrets = settings.credentialFiles.filter { access($0, F_OK) == 0 && !closed.contains($0) }
        for secret in secrets where FileFacts(secret)?.isReadableByAll == true {
            faults.append("\(secret) can be read by every user")
        }
        if FileFacts(file)?.isWritableByAll == true {
            faults.append("\(file) can be written by every user")
        }
        if let state = FileFacts(settings.stateDirectory), !state.isPrivate {
            faults.append("\(settings.stateDirectory) is not private (mode 0700)")
        }
        for fault in faults {
            tell(.fail("permissions", fault, "remove the permissions of others: chmod o-rwx"))
        }
        for (_, secret) in settings.filesOfNode
        where access(secret, F_OK) == 0 && !closed.contains(secret) && !user.may(R_OK, secret) {
            faults.append(secret)
            tell(
                .fail(
                    "permissions", "the node's user may not read \(secret)",
                    "chgrp onionbell and chmod 0640, or move it into \(SettingsReader.credentialsDirectory)/, from which systemd passes it to the node"
                ))
        }
        if faults.isEmpty, closed.isEmpty {
            tell(.pass("permissions", "not every user can read secrets, and the node's user can"))
        }
    }

    private func checkDisk() {
        var path = settings.stateDirectory
        // Before the first start it isn't there.
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            path = String(path[..<slash])
        }
        var status = statvfs()
        guard statvfs(path, &status) == 0 else {
            return tell(.fail("disk", "\(SystemError("look at \(path)"))", "make \(path)"))
        }
        let free = Int64(status.f_bavail) * Int64(status.f_frsize)
        tell(Judgement.disk(path, free: free, wanted: Int64(settings.limits.waitingBytes)))
        if path != settings.stateDirectory, node == nil {
            tell(
                .warn(
                    "state", "there is no \(settings.stateDirectory) yet",
                    "systemd creates it at the first start; without systemd create it for the node's user"))
        }
    }

    private func checkState() {
        let path = settings.stateDirectory
        var system = statvfs()
        // Before the first start it isn't there.
        guard let owner = FileFacts(path)?.owner, statvfs(path, &system) == 0 else { return }
        if user != .current, !user.may(W_OK | X_OK, path) {
            tell(.fail("state", "\(user.name) can't write into \(path)", "make it that user's: chown"))
        }
        let foreign = StateDirectory.names.filter { (FileFacts("\(path)/\($0)")?.owner ?? owner) != owner }
        tell(Judgement.state(path, isReadOnly: system.f_flag & UInt(ST_RDONLY) != 0, foreign: foreign))
        if settings.isStoreFile, node == nil, StateDirectory.hasLostOutbox(in: path) {
            tell(Judgement.lostOutbox(StateDirectory.outbox(in: path)))
        }
    }

    // MARK: The node itself

    private func checkNode() async {
        do {
            node = try StateDirectory.runningNode(in: settings.stateDirectory)
        } catch {
            return tell(
                .fail(
                    "node", "\(error)", "run this as root or as the node's user: sudo onionbell doctor"))
        }
        guard node != nil else {
            if let failing = unit?.finding {
                tell(failing)
                return checkPorts()
            }
            tell(.warn("node", "the node does not run", "systemctl start onionbell; then run this again"))
            return checkPorts()
        }
        if let finding = unit?.restartFinding(settings.tor.mode) { tell(finding) }
        await askNode()
    }

    /// Tries all places at which the node is to listen, for what would keep it from starting.
    private func checkPorts() {
        var free: [String] = []
        for (key, endpoint) in settings.listeners {
            guard let fault = Listener.trialFault(at: endpoint, besides: []) else {
                if !free.contains(key) { free.append(key) }
                continue
            }
            switch (fault.code, endpoint) {
            case (EACCES, _), (EPERM, _):
                // The node's user may, perhaps: systemd lets it.
                tell(
                    .warn(
                        "ports", "\(key): not known whether it is free: \(fault)",
                        "run this as root: sudo onionbell doctor"))
            // The folder of a socket is made at the start.
            case (ENOENT, .unix): continue
            case _:
                tell(
                    .fail(
                        "ports", "\(key): \(fault)",
                        "stop the program that uses it, or set \(key) to another address"))
            }
        }
        if !free.isEmpty { tell(.pass("ports", "free: \(free.joined(separator: ", "))")) }
    }

    private func askNode() async {
        let address = settings.managementListen
        let checks: JSON.Object
        do {
            let answer = try await HTTPExchange.answer(
                to: HTTPRequest(method: "GET", path: "/healthz"), host: "localhost", by: .direct(address),
                deadline: .seconds(10))
            guard let object = (try? JSON(answer.body))?["checks"]?.object else {
                return tell(
                    .fail(
                        "node", "the program at \(address) is not a node",
                        "stop that program, or set management.listen to another address"))
            }
            checks = object
        } catch {
            return tell(
                .fail(
                    "node", "the node runs but does not answer at management.listen: \(error)",
                    "if this lasts longer than a minute, restart it: systemctl restart onionbell"))
        }
        var isWell = true
        isSelfDialWell = checks["self_dial"]?["level"]?.string == "ok"
        var unknown: [String] = []
        for (name, check) in checks.sorted(by: { $0.key < $1.key }) where check["level"]?.string != "ok" {
            // What is shown by an event has to be waited for.
            if hasJustStarted, check["ok"]?.bool == true {
                unknown.append(name)
                continue
            }
            isWell = false
            let words = "\(name): \(check["state"]?.string ?? "not well")"
            let advice =
                check["advice"]?.string ?? "see WhenThingsBreak.md for \(name), and the lines below"
            // The address takes its time after a start.
            tell(
                name == "onion" && hasJustStarted || check["ok"]?.bool == true
                    ? .warn("node", words, advice) : .fail("node", words, advice))
        }
        guard isWell else { return }
        guard unknown.isEmpty else {
            return tell(
                .warn(
                    "node",
                    "the node has just been started; not well or not known yet: \(unknown.joined(separator: ", "))",
                    "run this again in two minutes"))
        }
        tell(.pass("node", "the node runs, and none of its \(checks.count) checks says otherwise"))
    }

    private var hasJustStarted: Bool {
        guard let node else { return false }
        return EventLoop.unixMilliseconds / 1000 - node.startedAt < 120
    }

    private func checkLimits() {
        let wanted = settings.connections + NodeProcess.filesBesidesConnections
        if let processID = node?.processID, let limit = ProcessLimits.openFiles(of: processID) {
            return tell(Judgement.files(limit: limit, wanted: wanted, isOfNode: true))
        }
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
        // systemd's unit sets its own.
        if node == nil, access("/run/systemd/system", F_OK) == 0 { return }
        tell(
            Judgement.files(limit: Int(clamping: limit.rlim_max), wanted: wanted, isOfNode: false))
    }
}
