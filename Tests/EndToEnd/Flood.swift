import Foundation
import Reactor
import Wire

/// One stream of a client that wants too much, and comes again when it is closed.
@EventLoop
final class Flood: StreamHandler {
    enum Manner: Equatable {
        /// Large requests and many Pings, as fast as they go.
        case frames
        /// Connections that are closed as soon as they stand.
        case connections
        /// Frames that don't come to their end.
        case halfFrames
        /// Pings whose answers are not read.
        case deafness
        /// Texts that cost a careless node a second each: runs of combining marks, as an app's name and a host's.
        case hostileText
        /// Frames of hundreds of notifications for phones that are not there, of a service that takes nothing.
        case bundles
        /// Connections that say nothing, more than there are places for, by two circuits.
        case silence
        /// Made-up messages to somebody's phone.
        case madeUpMessages(to: String)
        /// Requests for mailboxes that are not there, with tokens of nobody: more than a circuit may make, by many circuits.
        case guesses
        /// Heads of requests that don't come to their end.
        case halfHeads
        /// Readers without a token at this open topic, more than there are places for.
        case openReaders(topic: String)

        var streams: Int {
            switch self {
            case .frames, .deafness, .hostileText: 8
            case .connections, .halfFrames, .guesses, .halfHeads: 24
            case .bundles: 4
            case .silence, .openReaders: 60
            case .madeUpMessages: 1
            }
        }

        /// Streams by one circuit; all others: by one.
        fileprivate var streamsPerCircuit: Int { wantsPlaces ? 30 : self == .guesses ? 1 : .max }

        /// Its connections come again without haste.
        fileprivate var wantsPlaces: Bool {
            switch self {
            case .silence, .openReaders: true
            case _: false
            }
        }

        var isAtMailboxes: Bool {
            switch self {
            case .guesses, .halfHeads, .openReaders: true
            case _: false
            }
        }

        /// Nothing follows the first piece.
        fileprivate var isPatient: Bool {
            switch self {
            case .halfFrames, .silence, .madeUpMessages, .guesses, .halfHeads, .openReaders: true
            case _: false
            }
        }

        /// Between two pieces; `nil`: as fast as they go.
        fileprivate var pause: Duration? {
            if case .madeUpMessages = self { .milliseconds(100) } else { nil }
        }
    }

    private let route: SOCKS5Route
    private let manner: Manner
    private let piece: [UInt8]
    private let number: Int
    private var timer: Reactor.Timer?
    private var stream: Reactor.Stream?
    private var isStopped = false
    private(set) var sent = 0
    private(set) var dials = 0

    init(_ socks: Endpoint, _ address: String, _ manner: Manner, number: Int) {
        route = SOCKS5Route(
            proxy: socks, host: address, port: manner.isAtMailboxes ? 8030 : 9999,
            credentials: SOCKS5Credentials(
                user: "flood", password: "x\(number / manner.streamsPerCircuit)"))
        self.manner = manner
        self.number = number
        let ping = Envelope(messageVersion: 10, message: .ping(Ping(nonce: 1))).frame
        switch manner {
        case .frames where number.isMultiple(of: 2), .halfFrames: piece = Self.heavy
        case .frames, .deafness: piece = Array(repeatElement(ping, count: 1000).joined())
        case .connections: piece = ping
        case .silence: piece = []
        case .hostileText: piece = Self.hostileText(number)
        case .bundles: piece = []
        case .madeUpMessages, .guesses: piece = []
        case .halfHeads: piece = Array("GET /mbguess/json HTTP/1.1\r\nHost: x\r\nX: ".utf8)
        case .openReaders(let topic):
            piece = Array("GET /\(topic)/json HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        }
        Task { await dial() }
    }

    private static let heavy: [UInt8] = {
        var request = MobileNotificationRequest()
        request.uid = "flood"
        request.platform = .ios
        request.deviceToken = String(repeating: "a", count: 64)
        request.message = String(repeating: "A", count: 60_000)
        return Envelope(messageVersion: 10, message: .notificationRequest(request)).frame
    }()

    private func dial() async {
        while !isStopped {
            // As patient as somebody who only wants the places.
            if manner.wantsPlaces, dials > 0 { try? await Task.sleep(for: .seconds(2)) }
            dials += 1
            if let (stream, _) = try? await Reactor.Stream.connect(through: route, deadline: .seconds(10)) {
                guard !isStopped else { return stream.close() }
                guard manner != .connections else {
                    stream.close()
                    continue
                }
                self.stream = stream
                stream.handler = self
                stream.sendTimeout = nil
                if manner != .deafness { stream.resumeReading() }
                return manner == .silence ? () : pour()
            }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func pour() {
        let piece =
            switch manner {
            case .halfFrames: Array(piece.dropLast())
            case .bundles: Self.bundle()
            case .madeUpMessages(let token): Self.madeUp(to: token)
            case .guesses: Self.guesses()
            case _: piece
            }
        sent += piece.count
        stream?.write(piece)
        guard let pause = manner.pause else { return }
        timer = Reactor.Timer { [unowned self] in pour() }
        timer?.start(after: pause)
    }

    /// Half of one mark, half of another that goes before it: putting them in order is quadratic.
    private static func marks(_ bytes: Int) -> String {
        String(repeating: "\u{300}", count: bytes / 4) + String(repeating: "\u{316}", count: bytes / 4)
    }

    /// One frame of the kind, as an app's name or a host's in turns.
    static func hostileText(_ number: Int) -> [UInt8] {
        number.isMultiple(of: 2) ? frame(app: marks(60_000)) : peers(marks(60_000))
    }

    private static func frame(app: String) -> [UInt8] {
        var request = MobileNotificationRequest()
        request.uid = "flood"
        request.platform = .ios
        request.app = app
        request.deviceToken = String(repeating: "a", count: 64)
        request.message = "QUJD"
        return Envelope(messageVersion: 10, message: .notificationRequest(request)).frame
    }

    private static func peers(_ host: String) -> [UInt8] {
        var request = GetPeersRequest(nonce: 1, supportedCapabilities: [1])
        request.senderNodeAddress = NodeAddress(hostName: host, port: 1)
        return Envelope(messageVersion: 10, message: .getPeersRequest(request)).frame
    }

    /// A hundred notifications for phones that are not there.
    static func bundle() -> [UInt8] {
        let entries = (0..<100).map { _ in
            var one = request(.random(in: 1...1_000_000_000), platform: .android)
            one.uid = UUID().uuidString
            return Envelope(messageVersion: 10, message: .notificationRequest(one))
        }
        return Envelope(messageVersion: 10, message: .bundle(entries)).frame
    }

    private static func madeUp(to token: String) -> [UInt8] {
        var one = request(1)
        one.deviceToken = token
        one.uid = UUID().uuidString
        return Envelope(messageVersion: 10, message: .notificationRequest(one)).frame
    }

    private static func guesses() -> [UInt8] {
        let requests = (0..<20).map { number in
            let guess = UUID().uuidString
            return switch number % 3 {
            case 0: "GET /mb\(guess)/json?poll=1 HTTP/1.1\r\nHost: x\r\n\r\n"
            case 1: "GET /mbx/auth HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer tk_\(guess)\r\n\r\n"
            case _: "POST /up\(guess)?up=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
            }
        }
        return Array(requests.joined().utf8)
    }

    func stop() {
        isStopped = true
        timer?.stop()
        stream?.close()
    }

    func stream(_ stream: Reactor.Stream, received bytes: RawSpan) {
        // Who was turned away comes again.
        guard case .openReaders = manner, bytes.withUnsafeBytes({ $0.starts(with: "HTTP/1.1 4".utf8) })
        else { return }
        stream.close()
        Task { await dial() }
    }
    func streamFlushed(_ stream: Reactor.Stream) {
        if !manner.isPatient { pour() }
    }
    func stream(_ stream: Reactor.Stream, ended end: StreamEnd) { Task { await dial() } }
}
