import ArgumentParser
import Client
import Processes
import Reactor
import Terminal
import Wire

extension BisqNetwork: ExpressibleByArgument {}
extension PhoneText.Kind: ExpressibleByArgument {}

/// How a notification is sent.
enum SendForm: String, CaseIterable, ExpressibleByArgument {
    /// A frame of the peer protocol.
    case p2p
    /// A request as Bisq 1 sends it to its relay today: `GET /relay`.
    case bisq1
    /// A request as Bisq 2 sends it to its relay today: `POST /v1/...`.
    case bisq2

    /// The onion service's port for this form.
    var port: UInt16 {
        switch self {
        case .p2p: 9999
        case .bisq1: 80
        case .bisq2: 8021
        }
    }
}

/// `onionbell send`: a Bisq peer or client with one notification.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a notification as a Bisq peer or client does.",
        discussion: """
            Encrypts for the paired phone and sends through Tor's SOCKS port: as a peer (p2p), or over HTTP as \
            today's Bisq 1 and Bisq 2 do. Prints the answer, and with --wait also the outcome. A numeric address or \
            localhost is connected to directly; names are not looked up.

            Form bisq2 uses platform and device token from the pairing token. It encrypts with --key, the key that \
            Bisq Connect shares with its trusted node.

            Exit status: 0 stored (with --wait: delivered), 1 refused, 3 the node has it or may have it, and what \
            became of it is not known: sent again, it may ring twice; 64 usage, 65 the pairing token, the key or \
            the text cannot be used, 69 not reached, 75 the node has no room: try again later.

            Example: onionbell send --to ADDRESS.onion --pairing-token - --title Hello --message 'from Onionbell'
            """)

    @Option(
        help: ArgumentHelp(
            "The node's address. The default port depends on the form: 9999, 80 or 8021.",
            valueName: "onion[:port]")
    )
    var to: String

    @Option(help: "How to send.")
    var form = SendForm.p2p

    @OptionGroup var phone: PairingTokenOption

    @Option(help: "The notification's title.")
    var title: String

    @Option(help: "The notification's text.")
    var message: String

    @Option(help: ArgumentHelp("Tor's SOCKS port.", valueName: "address:port"))
    var socks = "127.0.0.1:9050"

    @Option(help: "The category of the notification.")
    var type = PhoneText.Kind.trade

    @Option(help: "The id of the trade or offer.")
    var trade = ""

    @Option(
        help: ArgumentHelp(
            "For form bisq2, 32 bytes in Base64; - reads it from standard input, after the pairing token.",
            valueName: "base64"))
    var key: String?

    @Option(help: "The Bisq network of the node, for form p2p.")
    var network = BisqNetwork.mainnet

    @Option(
        help: "The name of the app at the node, for form p2p; by default the node's default for the platform."
    )
    var app = ""

    @Option(
        help: ArgumentHelp(
            "How long to wait for the node, and with --wait for the outcome.", valueName: "30s|2m"))
    var timeout = TimeSpan(.seconds(120))

    @Flag(help: "With form p2p, wait for the answer of Apple or Google. A POST always waits.")
    var wait = false

    func validate() throws {
        guard form == .p2p || !wait && app.isEmpty else {
            throw ValidationError("--wait and --app are for --form p2p")
        }
        guard (form == .bisq2) == (key != nil) else {
            throw ValidationError("--key is for --form bisq2, which needs it")
        }
    }

    func run() async throws {
        let token = try phone.token()
        switch form {
        case .p2p: try await sendAsPeer(BisqSender(to: token))
        case .bisq1: try await sendAsBisq1(BisqSender(to: token))
        case .bisq2: try await sendAsBisq2(token)
        }
    }

    /// The message as Bisq 1 and its peers send it.
    var text: PhoneText {
        PhoneText(
            sentDate: EventLoop.unixMilliseconds, transactionID: trade, title: title, message: message,
            kind: type, actionRequired: "", version: 1)
    }

    private func sendAsPeer(_ sender: BisqSender) async throws {
        var request: MobileNotificationRequest
        do {
            request = try sender.request(for: text)
        } catch {
            throw fail(error, status: 65)
        }
        request.app = app
        request.awaitsOutcome = wait
        let route = try route().route
        switch await exchange(request, by: route) {
        case .failure(let failure): throw fail(failure.words, status: failure.status)
        case .success(let last):
            switch last.status {
            case .delivered: return
            case .stored where !wait: return
            case .stored: throw ExitCode(3)
            case .busy: throw ExitCode(75)
            case .refused, .tokenDead, .expired, nil: throw ExitCode(1)
            }
        }
    }

    /// Returns the way to the node, and its name as HTTP's Host field has it.
    func route() throws -> (route: PeerRoute, host: String) {
        guard let proxy = Endpoint(socks) else { throw fail("--socks must be ADDRESS:PORT", status: 64) }
        switch try calledNode(to, port: form.port) {
        case .onion(let onion, let port):
            return (
                .tor(socks: proxy, onion: onion, port: port), port == 80 ? onion : "\(onion):\(port)"
            )
        case .direct(let endpoint): return (.direct(endpoint), "\(endpoint)")
        }
    }

    /// Why there is no answer.
    private struct Failure: Error {
        let words: String
        /// The exit status: 3 where the node may have the notification all the same.
        var status: Int32 = 69
    }

    /// Sends and prints each response as it comes; returns the last one.
    @EventLoop
    private func exchange(
        _ request: MobileNotificationRequest, by route: PeerRoute
    ) async -> Result<MobileNotificationResponse, Failure> {
        let deadline = timeout.duration
        let peer: BisqPeer
        tellOfTheWait(route)
        do {
            peer = try await BisqPeer.dial(route, network: network, deadline: deadline)
        } catch {
            return .failure(Failure(words: error.description))
        }
        defer { peer.close() }
        do {
            var response = try await peer.send(request, deadline: deadline)
            printLine(response.words)
            guard wait, response.status == .stored else { return .success(response) }
            do {
                response = try await peer.nextResponse(to: request.uid, deadline: deadline)
                printLine(response.words)
            } catch {
                printError("onionbell: no outcome yet (\(error)); the node keeps trying")
            }
            return .success(response)
        } catch {
            let status: Int32 = error.isFinal ? 1 : error.mayBeTaken ? 3 : 69
            return .failure(Failure(words: error.description, status: status))
        }
    }

    /// Shows that the command connects through Tor: a circuit to an onion service takes seconds.
    func tellOfTheWait(_ route: PeerRoute) {
        if case .tor = route { printProgress("connecting through Tor") }
    }
}
