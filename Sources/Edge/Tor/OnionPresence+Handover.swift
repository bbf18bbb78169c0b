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
    ///
    /// A process that comes after this one finds in the store what is there; a tor that is a child ends.
    package func handOn() async {
        guard Handover.shared.isInPlace || !settings.source.isChild else { return await stop() }
        guard !isStopping else { return }
        isStopping = true
        watch.stop()
        keeper?.cancel()
        lose(.connection(.closed))
        await keeper?.value
        guard let link, let service else { return }
        let note = OnionHandover(service, of: link, settings.source).bytes
        guard let connection = await link.connection.handOn() else {
            // Who comes by the store finds it as it is.
            if stored == nil || Handover.shared.isInPlace { _ = await letGo(of: link, because: .closed) }
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
        let note = Handover.shared.takeBytes(OnionPresence.noteName, limit: 1 << 16)
            .flatMap(OnionHandover.init)
        var process: TorProcess?
        if let number = note?.process, let log = Handover.shared.take(OnionPresence.logName) {
            process = TorProcess(inheriting: number, of: settings.source, log: log) { [weak self] line in
                self?.tell(line)
            }
        }
        let connection: ControlConnection
        do throws(ControlError) {
            connection = try await ControlConnection(inheriting: descriptor)
        } catch {
            await process?.stop()
            forgetStored()
            return false
        }
        let link = TorLink(connection: connection, process: process)
        let form = form
        let own = note?.own.flatMap { ClientSecret(bytes: $0) }
        if let note, note.source != OnionHandover.digest(of: settings.source) {
            // Another tor than the node's from now on: it is not given up as its owner, so that a tor that has the service in
            // its configuration ends, and does not serve the address beside the node's.
            forgetStored()
            _ = await link.close(because: .closed)
            return false
        }
        guard let note, note.source == OnionHandover.digest(of: settings.source), !isStopping,
            (process == nil) == (note.process == nil),
            note.service == form.digest(key: plan.key, ports: plan.ports, own: own?.publicKey),
            await form.isHeld(as: plan.key.address, by: connection)
        else {
            // With its connection the service ends, and a tor of our own.
            _ = await letGo(of: link, because: .closed)
            return false
        }
        attach(link)
        do {
            let socks = try await socks(of: link)
            attachment?.socks = socks
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
            await store(service, of: link)
            return true
        } catch {
            _ = await drop(link, because: error)
            return false
        }
    }
}

/// The service over a true restart, or a crash: the store of the service manager keeps the connection, and a note that is
/// true at each moment.
extension OnionPresence {
    /// The files that lie in the store beside the connection.
    struct Stored {
        let note: MemoryFile
    }

    /// Has the connection kept for the process after this one, with all that tor has by it.
    func store(_ service: OnionService, of link: TorLink) async {
        guard Handover.shared.hasStore, link.process == nil, self.link?.connection === link.connection else {
            return
        }
        if stored == nil {
            // What the process before this one had there goes.
            forgetStored()
            guard let note = MemoryFile(OnionPresence.noteName), let number = link.connection.descriptor,
                Handover.shared.store(OnionPresence.connectionName, number),
                Handover.shared.store(OnionPresence.noteName, note.number)
            else { return forgetStored() }
            stored = Stored(note: note)
            // A service of its configuration is tor's until it ends. When the unit is stopped, and the store emptied, tor
            // starts anew without it.
            if form.directory != nil {
                _ = try? await link.connection.send(.takeOwnership, within: .seconds(2))
            }
        }
        renewNote()
    }

    /// Writes down for the process after this one what tor has.
    func renewNote() {
        guard let stored, let link, let service else { return }
        stored.note.write(OnionHandover(service, of: link, settings.source).bytes)
    }

    /// Leaves nothing to rely on while tor is told something else.
    func withholdNote() { stored?.note.write([]) }

    /// Closes a connection, which nobody is to find in the store any more. A tor that isn't our child goes on.
    func letGo(of link: TorLink, because error: ControlError) async -> OnionLoss {
        if Handover.shared.hasStore, link.process == nil {
            if form.directory != nil, link.connection.end == nil {
                _ = try? await link.connection.send(.dropOwnership, within: .seconds(1))
            }
            forgetStored()
        }
        return await link.close(because: error)
    }

    private func forgetStored() {
        stored = nil
        Handover.shared.forget(OnionPresence.connectionName)
        Handover.shared.forget(OnionPresence.noteName)
    }
}

extension OnionForm {
    /// Whether tor still has the service: it may have read its configuration anew while no node was there.
    @EventLoop
    fileprivate func isHeld(as address: OnionAddress, by connection: ControlConnection) async -> Bool {
        let key = directory == nil ? "onions/current" : "HiddenServiceOptions"
        let command: ControlCommand =
            directory == nil ? .getInfo([key]) : ControlCommand("GETCONF", [key])
        guard let reply = try? await connection.send(command) else { return false }
        guard let directory else {
            return (reply[key] ?? "").split(whereSeparator: \.isNewline).contains { $0 == address.serviceID }
        }
        return reply.lines.contains { $0.text == "HiddenServiceDir=\(directory)" }
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
    init(_ service: OnionService, of link: TorLink, _ source: OnionPresenceSettings.Source) {
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

    static func digest(of source: OnionPresenceSettings.Source) -> [UInt8] {
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
        inheriting number: Int32, of source: OnionPresenceSettings.Source, log: consuming Descriptor,
        onLine: @escaping @EventLoop (TorLogLine) -> Void
    ) {
        // A node that now uses another tor ends this one.
        let settings: TorProcessSettings =
            if case .own(let settings) = source { settings } else {
                TorProcessSettings(torrc: "", dataDirectory: "", offersSocks: false)
            }
        self.init(settings, inheriting: number, output: log, onLine: onLine)
    }
}
