import Gateways
import Logging
import Persistence
import Processes
import Reactor

/// Credentials that are taken over while the node runs.
extension RelayNode {
    /// Reads credentials again if they have changed, and tries at once what is blocked: the operator has
    /// mended something.
    func resume() {
        Task {
            await invitations.lookNow()
            for companion in companions { await companion.lookNow() }
            await rereadPassword()
            await rereadSettings()
            await credentials.lookNow()
            store.dispatcher.resume(app: nil)
        }
    }

    /// Reads the store's password again: connections that are made from now on use it.
    func rereadPassword() async {
        guard settings.keeperOfStore?.passwordFile.isEmpty == false else { return }
        switch await RelayNode.place(settings) {
        case .success(let place):
            settingsNews.note(.password, refused: nil)
            await store.outbox.use(place)
        case .failure(let error):
            settingsNews.note(.password, refused: "\(error)")
            log.error("storage.password_rejected", metadata: ["reason": "\(error)"])
        }
    }

    @FileThread
    private static func place(_ settings: Settings) -> Result<StorePlace, NodeError> {
        Result { () throws(NodeError) in try settings.store() }
    }

    /// Takes over apps' credentials and the level of the log while the node runs. The log names all other changed settings,
    /// so that nobody waits for them.
    package func rereadSettings() async {
        // One after the other: of two texts the one that was read last is in force.
        await rereads.run { [weak self] in await self?.rereadInTurn() }
        tell(.state)
    }

    private func rereadInTurn() async {
        let settings: Settings
        switch await RelayNode.read(host.settingsFile, self.settings.built) {
        case .success(let read): settings = read
        case .failure(let error):
            settingsNews.note(.settings, refused: "\(error)")
            return log.error("settings.rejected", metadata: ["reason": "\(error)"])
        }
        settingsNews.note(.settings, refused: nil)
        var taken: Set<String> = []
        if settings.log.level != host.level.value {
            host.level.value = settings.log.level
            taken.insert("log.level")
        }
        for gateways in gateways {
            guard let app = settings.apps.first(where: { $0.name == gateways.app })?.settings,
                let before = configured[gateways.app], app.changeable != before.changeable
            else { continue }
            let isTaken = await credentials.change(
                gateways.app, files: app.files, reload: gateways.watched(as: app).reload)
            guard isTaken, let index = settings.apps.firstIndex(where: { $0.name == gateways.app }) else {
                continue
            }
            configured[gateways.app] = app
            taken.formUnion(settings.liveKeys.filter { $0.hasPrefix("apps[\(index)].") })
        }
        tell(settings.keys(changedFrom: self.settings), taken: taken)
    }

    /// Logs which changed settings were taken over, or which need a restart.
    ///
    /// - Parameter changed: Keys that are not as they were at the start; their values are nobody's business.
    private func tell(_ changed: [String], taken: Set<String>) {
        let waiting = changed.filter { !taken.contains($0) && !takenBefore.contains($0) }
        takenBefore.formUnion(taken)
        settingsNews.restartDue = waiting
        guard !waiting.isEmpty else {
            log.notice(
                "settings.reread",
                metadata: ["taken": "\(taken.intersection(changed).sorted().joined(separator: ", "))"])
            return
        }
        log.warning(
            "settings.need_restart",
            metadata: [
                "keys": "\(waiting.prefix(20).joined(separator: ", "))",
                "advice": "the node goes on with the old values: systemctl restart onionbell",
            ])
    }

    @FileThread
    private static func read(_ file: String, _ features: Features) -> Result<Settings, SettingsError> {
        Result { () throws(SettingsError) in
            try Settings(file: file, environment: environment, features: features)
        }
    }
}
