import Crypto
import Encodings
import Glibc
import Reactor

/// The service over a restart in place: the process hands tor, its control connection and the service on to its successor.
/// Tor notices nothing; descriptors and introduction points stay.
extension OnionPresence {
    private static let connectionName = "tor-control"
    private static let logName = "tor-log"
    private static let noteName = "onion"

    /// Stops, and leaves to this process' successor what there is of tor and the service. What can't be handed on ends.
    package func handOn() async {
        guard !isStopping else { return }
        isStopping = true
        watch.stop()
        keeper?.cancel()
        lose(.connection(.closed))
        await keeper?.value
        guard let link, let service else { return }
        let note = OnionHandover(service, of: link, settings.source).bytes
        guard let connection = await link.connection.handOn() else {
            _ = await link.close(because: .closed)
            return
        }
        if let process = link.process {
            guard let log = process.handOn() else { return }
            Handover.shared.keep(OnionPresence.logName, log)
        }
        Handover.shared.keep(OnionPresence.connectionName, connection)
        Handover.shared.keep(OnionPresence.noteName, note)
    }

    /// Takes over what the process was handed, if it is what this node would have tor do.
    ///
    /// - Returns: Whether tor has the service now. If not, what was handed over has ended.
    func takeOver(_ plan: Plan) async -> Bool {
        guard let descriptor = Handover.shared.take(OnionPresence.connectionName) else { return false }
        let connection = ControlConnection(inheriting: descriptor)
        guard
            let note = Handover.shared.takeBytes(OnionPresence.noteName, limit: 1 << 16)
                .flatMap(OnionHandover.init)
        else {
            connection.close()
            return false
        }
        var process: TorProcess?
        if let number = note.process, let log = Handover.shared.take(OnionPresence.logName) {
            process = TorProcess(inheriting: number, of: settings.source, log: log) { [weak self] line in
                self?.tell(line)
            }
        }
        let link = TorLink(connection: connection, process: process)
        let form = form
        let own = note.own.flatMap { ClientSecret(bytes: $0) }
        guard note.source == OnionHandover.digest(of: settings.source), !isStopping,
            (process == nil) == (note.process == nil),
            note.service == form.digest(key: plan.key, ports: plan.ports, own: own?.publicKey)
        else {
            // With its connection the service ends, and a tor of our own.
            _ = await link.close(because: .closed)
            return false
        }
        attach(link)
        do {
            let socks = try await socks(of: link)
            attachment?.socks = socks
            try await bookCircuits(of: link, form)
            let bootstrap = try await OnionService.listen(on: connection)
            let service = OnionService(
                plan.key, plan.ports, form, own, connection,
                Publication(
                    of: plan.key.address, bootstrap: bootstrap, uploads: note.uploads,
                    publishedAt: note.publishedAt),
                form.neighbours.enumerated().map { index, neighbour in
                    Publication(
                        of: neighbour.address, bootstrap: bootstrap, uploads: 1,
                        publishedAt: index < note.neighbours.count ? note.neighbours[index] : nil)
                })
            serve(service)
            return true
        } catch {
            _ = await drop(link, because: error)
            return false
        }
    }
}

/// The note of a node to its successor about its tor and its service: lines of a word and a value, in memory only.
struct OnionHandover: Equatable {
    /// A digest of how tor is run or reached, by which the successor sees whether it would do the same.
    let source: [UInt8]
    /// A tor of our own.
    let process: Int32?
    /// The digest of all that tor was told of the service.
    let service: [UInt8]
    /// The secret by which our own tor finds a private service.
    let own: [UInt8]?
    let uploads: Int
    /// Milliseconds since 1970.
    let publishedAt: Int64?
    /// The times of publication of the neighbours, in their order.
    let neighbours: [Int64?]

    @EventLoop
    init(_ service: OnionService, of link: TorLink, _ source: OnionPresence.Settings.Source) {
        self.source = OnionHandover.digest(of: source)
        process = link.process?.processID
        self.service = service.form.digest(
            key: service.key, ports: service.ports, own: service.own?.publicKey)
        own = service.own?.bytes
        (uploads, publishedAt) = (service.publication.uploads, service.publication.publishedAt)
        neighbours = service.neighbours.map(\.publishedAt)
    }

    /// Reads the lines; `nil`: they are none of ours.
    init?(_ bytes: [UInt8]) {
        var values: [Substring: Substring] = [:]
        let text = String(decoding: bytes, as: UTF8.self)
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2 else { return nil }
            values[words[0]] = words[1]
        }
        guard let source = values["source"].flatMap({ Hex.decode(String($0)) }),
            let service = values["service"].flatMap({ Hex.decode(String($0)) }),
            let uploads = values["uploads"].flatMap({ Int($0) }), uploads >= 0
        else { return nil }
        (self.source, self.service, self.uploads) = (source, service, uploads)
        process = values["process"].flatMap { Int32($0) }
        own = values["own"].flatMap { Hex.decode(String($0)) }
        publishedAt = values["published"].flatMap { Int64($0) }
        neighbours = (values["neighbours"] ?? "").split(separator: ",").map { Int64($0) }
    }

    var bytes: [UInt8] {
        var lines = [
            "source \(Hex.encode(source))", "service \(Hex.encode(service))", "uploads \(uploads)",
            "neighbours \(neighbours.map { $0.map(String.init) ?? "-" }.joined(separator: ","))",
        ]
        if let process { lines.append("process \(process)") }
        if let own { lines.append("own \(Hex.encode(own))") }
        if let publishedAt { lines.append("published \(publishedAt)") }
        return Array(lines.joined(separator: "\n").utf8)
    }

    static func digest(of source: OnionPresence.Settings.Source) -> [UInt8] {
        switch source {
        case .own(let settings):
            // What its file says is read by a start of tor alone.
            let torrc = (try? PrivateFile.read(settings.torrc, limit: 1 << 20)) ?? []
            return Hash.sha256(Array(settings.arguments.joined(separator: "\n").utf8) + torrc)
        case .running(let control, _, let isOurs):
            return Hash.sha256(Array("\(control) \(isOurs)".utf8))
        }
    }
}

extension TorProcess {
    fileprivate convenience init?(
        inheriting number: Int32, of source: OnionPresence.Settings.Source, log: consuming Descriptor,
        onLine: @escaping @EventLoop (TorLogLine) -> Void
    ) {
        // A node that now uses another tor ends this one.
        let settings: Settings =
            if case .own(let settings) = source { settings } else {
                Settings(torrc: "", dataDirectory: "", offersSocks: false)
            }
        self.init(settings, inheriting: number, output: log, onLine: onLine)
    }
}
