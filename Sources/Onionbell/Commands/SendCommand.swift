import ArgumentParser
import Lab
import Reactor
import Wire

extension BisqNetwork: ExpressibleByArgument {}
extension MobileMessage.Kind: ExpressibleByArgument {}

/// `onionbell send`: a Bisq peer with one notification.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a notification as a Bisq peer does.",
        discussion: """
            Encrypts for the paired phone and sends over Tor's SOCKS port. Prints the receipt, and with --wait the \
            outcome as well. A node at an address that is no onion is dialled directly.

            Exit status: 0 stored (with --wait: delivered), 1 refused, 69 not reached, 75 try again later.
            """)

    @Option(help: ArgumentHelp("The node's address; port 9999 if none is given.", valueName: "onion[:port]"))
    var to: String

    @OptionGroup var phone: PairingTokenOption

    @Option(help: "The notification's title.")
    var title: String

    @Option(help: "The notification's text.")
    var message: String

    @Option(help: ArgumentHelp("Tor's SOCKS port.", valueName: "address:port"))
    var socks = "127.0.0.1:9050"

    @Option(help: "What the notification is about.")
    var type = MobileMessage.Kind.trade

    @Option(help: "The id of the trade or offer it is about.")
    var trade = ""

    @Option(help: "The Bisq network of the node.")
    var network = BisqNetwork.mainnet

    @Option(help: "The name of the app at the node; empty: the default of the phone's platform.")
    var app = ""

    @Option(help: "Seconds to wait for the node, and with --wait for the outcome.")
    var timeout = 120

    @Flag(help: "Wait for the outcome: what Apple or Google said.")
    var wait = false

    func validate() throws {
        guard (1...86400).contains(timeout) else { throw ValidationError("--timeout: 1 to 86400 seconds") }
    }

    func run() async throws {
        let sender = BisqSender(to: try phone.token())
        let text = MobileMessage(
            sentDate: EventLoop.unixMilliseconds, transactionID: trade, title: title, message: message,
            kind: type,
            actionRequired: "", version: 1)
        var request: MobileNotificationRequest
        do {
            request = try sender.request(for: text)
        } catch {
            throw fail(error, status: 65)
        }
        request.app = app
        request.awaitsOutcome = wait
        let route = try route()
        let (last, problem) = await exchange(request, by: route)
        if let problem { throw fail(problem, status: 69) }
        switch last?.status {
        case .delivered: return
        case .stored where !wait: return
        case .busy, .stored: throw ExitCode(75)
        case .refused, .tokenDead, .expired, nil: throw ExitCode(1)
        }
    }

    private func route() throws -> PeerRoute {
        let address = to.contains(":") ? to : to + ":9999"
        guard let endpoint = Endpoint(address), let proxy = Endpoint(socks),
            case .host(let host, let port) = endpoint
        else { throw fail("--to and --socks take ADDRESS:PORT", status: 64) }
        return host.hasSuffix(".onion") ? .tor(socks: proxy, onion: host, port: port) : .direct(endpoint)
    }

    /// Sends and prints each response as it comes.
    @EventLoop
    private func exchange(
        _ request: MobileNotificationRequest, by route: PeerRoute
    ) async -> (last: MobileNotificationResponse?, problem: String?) {
        let deadline = Duration.seconds(timeout)
        let peer: BisqPeer
        do {
            peer = try await BisqPeer.dial(route, network: network, deadline: deadline)
        } catch {
            return (nil, error.description)
        }
        defer { peer.close() }
        do {
            var response = try await peer.send(request, deadline: deadline)
            printLine(response.words)
            if wait, response.status == .stored {
                response = try await peer.nextResponse(to: request.uid, deadline: deadline)
                printLine(response.words)
            }
            return (response, nil)
        } catch {
            return (nil, error.description)
        }
    }
}

extension MobileNotificationResponse {
    /// As the sender reads it: `stored`, `refused: BadMessage`.
    var words: String {
        let word =
            switch status {
            case .stored: "stored"
            case .delivered: "delivered"
            case .refused: "refused"
            case .tokenDead: "token dead"
            case .expired: "expired"
            case .busy: "busy, try again in \(retryAfterMilliseconds) ms"
            case nil: "status \(statusNumber)"
            }
        // The reason is the node's; only plain text of it reaches the terminal.
        let plain = reason.unicodeScalars.filter { (0x20...0x7e).contains($0.value) }
        return plain.isEmpty ? word : "\(word): \(String(String.UnicodeScalarView(plain)))"
    }
}
