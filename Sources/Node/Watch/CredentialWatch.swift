import Encodings
import Logging
import Reactor

/// Takes over credentials whose files have changed, without a restart.
///
/// A change is taken once the files have stayed the same for a second, so that none is read half written. What can't be
/// used is logged once, and the old credentials stay.
@EventLoop
final class CredentialWatch {
    /// Takes what was in the files.
    typealias Reload = @EventLoop (CredentialFiles.Contents) async throws(SettingsFault) -> Void

    /// The files that are watched for one app, and how they are taken over.
    struct App {
        let name: String
        /// The files as they were when they were read last.
        var files: CredentialFiles
        /// Hands the files' contents to the app's gateways.
        let reload: Reload
        fileprivate var latest: [CredentialFiles.Stamp?]
        fileprivate var fault: String?

        init(
            name: String, files: CredentialFiles,
            reload: @escaping Reload
        ) {
            self.name = name
            self.files = files
            self.reload = reload
            latest = files.stamps
        }
    }

    private var apps: [App]
    private let log: Logger
    private let onChange: @EventLoop (_ app: String) -> Void
    private let timer = Timer()
    private var isStopped = false
    /// The looks and the changes of settings: neither begins before the one before it has ended.
    private let turns = InOrder()

    private let interval: Duration
    private let settling: Duration

    /// Makes a watch of the files of apps; ``start()`` begins it.
    ///
    /// - Parameters:
    ///   - interval: between two looks; after one that has found a change only as long as `settling`.
    ///   - onChange: Called when an app's gateways have other credentials.
    init(
        _ apps: [App], interval: Duration = .seconds(10), settling: Duration = .seconds(1), log: Logger,
        onChange: @escaping @EventLoop (_ app: String) -> Void
    ) {
        self.apps = apps
        self.interval = interval
        self.settling = settling
        self.log = log
        self.onChange = onChange
        timer.action = { [unowned self] in
            Task { [weak self] in await self?.lookInTurn(isUrgent: false) }
        }
    }

    func start() { timer.start(after: interval) }

    func stop() {
        isStopped = true
        timer.stop()
    }

    /// Looks at once, and waits for nothing to settle: the caller has finished writing.
    func lookNow() async { await lookInTurn(isUrgent: true) }

    /// The apps whose files, as they are now, were not taken, and why.
    var faults: [ByteText: String] {
        Dictionary(apps.compactMap { app in app.fault.map { (ByteText(app.name), $0) } }) { first, _ in first
        }
    }

    private func lookInTurn(isUrgent: Bool) async {
        await turns.run { [weak self] in await self?.look(isUrgent: isUrgent) }
    }

    /// Looks for changed files and takes them. Another thread reads them: a disk that hangs holds up nothing
    /// else.
    private func look(isUrgent: Bool) async {
        var isSettling = false
        for index in apps.indices {
            let stamps = await CredentialWatch.stamps(of: apps[index].files)
            let isStill = stamps == apps[index].latest
            apps[index].latest = stamps
            guard stamps != apps[index].files.stamps else { continue }
            guard isStill || isUrgent else {
                isSettling = true
                continue
            }
            let before = apps[index].files
            let (files, contents) = await CredentialWatch.look(at: before)
            guard !isStopped else { return }
            guard files != before else { continue }
            apps[index].files = files
            if files.differ(from: before) { await take(apps[index], contents) }
        }
        guard !isStopped else { return }
        timer.start(after: isSettling ? settling : interval)
    }

    @FileThread
    private static func stamps(of files: CredentialFiles) -> [CredentialFiles.Stamp?] { files.presentStamps }

    @FileThread
    private static func look(at files: CredentialFiles) -> (CredentialFiles, CredentialFiles.Contents) {
        var files = files
        let contents = files.look()
        return (files, contents)
    }

    @FileThread
    private static func look(at paths: [String]) -> (CredentialFiles, CredentialFiles.Contents) {
        look(at: CredentialFiles(paths))
    }

    /// Takes over the credentials that changed settings have for an app. If these can't be used, the old ones
    /// stay.
    ///
    /// - Returns: Whether they are used.
    func change(_ app: String, files paths: [String], reload: @escaping Reload) async -> Bool {
        await turns.run { [weak self] in await self?.changeNow(app, files: paths, reload: reload) ?? false }
    }

    private func changeNow(_ app: String, files paths: [String], reload: @escaping Reload) async -> Bool {
        let (files, contents) = await CredentialWatch.look(at: paths)
        let other = App(name: app, files: files, reload: reload)
        guard await take(other, contents) else { return false }
        if let index = apps.firstIndex(where: { $0.name == app }) { apps[index] = other }
        return true
    }

    @discardableResult
    private func take(_ app: App, _ contents: CredentialFiles.Contents) async -> Bool {
        var fault: String?
        do throws(SettingsFault) {
            try await app.reload(contents)
            log.notice("credentials.reloaded", metadata: ["app": "\(app.name)"])
            onChange(app.name)
        } catch {
            fault = error.description
            log.error(
                "credentials.rejected",
                metadata: [
                    "app": "\(app.name)", "reason": "\(error)",
                    "advice": "the old credentials stay in use",
                ])
        }
        if let index = apps.firstIndex(where: { $0.name == app.name }) { apps[index].fault = fault }
        return fault == nil
    }
}
