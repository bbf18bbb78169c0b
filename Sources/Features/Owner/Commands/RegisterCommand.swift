import ArgumentParser
import CallsCommands
import Client
import Crypto
import Encodings
import Glibc
import Node
import Persistence
import Processes
import Reactor
import Relay
import Terminal
import Wire

/// `onionbell register`: makes a trusted node of Bisq 2 ring a phone.
package struct RegisterCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Register a phone at your trusted node of Bisq 2, as Bisq Connect does.",
        discussion: """
            For phones with the page and others that have no Bisq Connect. Takes the pairing token that the phone \
            shows, and the pairing code of your trusted node: the text of the QR code that it shows to pair Bisq \
            Connect, which also is the first line of pairing_qr_code.txt in its data directory. A code can be used \
            once. Connects through Tor's SOCKS port.

            Bisq 2 takes device tokens of 100 to 300 characters. For another token, or to ring several phones, use \
            --name: the phone is put into the phone book under the name, and its alias is registered. All phones of \
            the name must have the same key.

            Afterwards Bisq 2 sends to the relay of its configuration: onionbell point bisq2 makes that this node.

            Exit status: 0 done, 1 refused, 64 usage, 65 the pairing token or the code cannot be used, 69 not reached \
            or no answer, 78 configuration.

            Example: onionbell register --name alice --pairing-token - --pairing-code -
            """)

    @OptionGroup var config: ConfigOption
    @OptionGroup var phone: PairingTokenOption

    @Option(
        help: ArgumentHelp(
            "The trusted node's pairing code; - reads it from standard input, after the pairing token.",
            valueName: "code"))
    var pairingCode: String

    @Option(help: "Put the phone into the phone book under this name, and register the name's alias.")
    var name: String?

    @Flag(help: "Take the registration out again.")
    var remove = false

    @Option(help: ArgumentHelp("Tor's SOCKS port.", valueName: "address:port"))
    var socks = "127.0.0.1:9050"

    @Option(help: ArgumentHelp("How long to wait for each answer.", valueName: "30s|2m"))
    var timeout = TimeSpan(.seconds(120))

    package func validate() throws {
        if let name { try checkPhoneBookName(name) }
    }

    package func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        let token = try phone.token()
        guard token.platform == .android else {
            throw fail(
                "only the page's pairing tokens, and those of Android phones, can be registered", status: 65)
        }
        let code = try code()
        let node = try node(of: code)
        let id = Self.id(of: token, name: name)
        let deviceToken = try remove ? "" : await deviceToken(of: token)
        printProgress("connecting to the trusted node")
        do throws(TrustedNodeError) {
            if remove {
                let wasThere = try await node.unregister(id, with: code)
                printLine(wasThere ? "removed" : "the trusted node did not have it")
            } else {
                try await node.register(
                    TrustedNodeDevice(
                        id: id, deviceToken: deviceToken, descriptor: descriptor(of: token),
                        key: Array(token.key.utf8)), with: code)
                printLine("registered: the trusted node sends its notifications for this phone to its relay")
                printLine("Is this node its relay? onionbell point bisq2 says how.")
            }
        } catch {
            throw fail(error, status: error.exitStatus)
        }
    }

    /// Returns the id of a phone or name, always the same: what is registered again replaces itself. It tells nothing of
    /// the token.
    private static func id(of token: PairingToken, name: String?) -> String {
        let subject = name.map { "name \($0) \(token.key)" } ?? "token \(token.deviceToken)"
        return Hex.encode(Hash.sha256(Array("onionbell register \(subject)".utf8)))
    }

    private func descriptor(of token: PairingToken) -> String {
        let words = String(plainText(token.descriptor).prefix(64))
        return words.isEmpty ? "Onionbell" : "\(words) (Onionbell)"
    }

    private func code() throws -> TrustedNodeCode {
        let text = try SecretInput.pairingCode.text(pairingCode)
        let code: TrustedNodeCode
        do throws(TrustedNodeCode.Fault) {
            code = try TrustedNodeCode(text.filter { !$0.isWhitespace })
        } catch {
            throw fail(error, status: 65)
        }
        guard code.expiresAt > EventLoop.unixMilliseconds else {
            throw fail(
                "the pairing code is too old: take the one that the trusted node shows now", status: 65)
        }
        return code
    }

    private func node(of code: TrustedNodeCode) throws -> TrustedNode {
        guard let proxy = Endpoint(socks) else { throw fail("--socks must be ADDRESS:PORT", status: 64) }
        guard code.url.hasPrefix("ws://"), !code.hasCertificate else {
            throw fail(
                "the trusted node is reached by TLS in its own network; let it be reached by Tor (accessTransportType=\"TOR\")",
                status: 65)
        }
        if code.needsTorClientKey {
            printError(
                "onionbell: the trusted node's address asks for a key (client authorization), which the tor at --socks has to have"
            )
        }
        let place = String(code.url.dropFirst(5).prefix { $0 != "/" })
        let address: CalledNode
        do throws(CalledNodeFault) {
            address = try CalledNode(place, port: 80)
        } catch {
            throw fail("the pairing code's address: \(error)", status: 65)
        }
        switch address {
        case .onion(let onion, let port):
            return TrustedNode(
                host: port == 80 ? onion : "\(onion):\(port)",
                route: .tor(socks: proxy, onion: onion, port: port), deadline: timeout.duration)
        case .direct(let endpoint):
            return TrustedNode(host: "\(endpoint)", route: .direct(endpoint), deadline: timeout.duration)
        }
    }

    /// Returns the device token that the trusted node is to push to.
    private func deviceToken(of token: PairingToken) async throws -> String {
        guard let name else {
            guard TrustedNodeDevice.tokenLengths.contains(token.deviceToken.utf8.count) else {
                throw fail(
                    """
                    Bisq 2 takes device tokens of 100 to 300 characters, and this one has \
                    \(token.deviceToken.utf8.count): give the phone a name with --name, then its alias is registered
                    """, status: 65)
            }
            return token.deviceToken
        }
        try await config.call(
            "POST", "phones", ["name": .string(name), "pairing_token": .string(token.text)],
            fine: "phone_known")
        let given = try await config.call("PUT", "names/\(name.percentEncoded)/address", [:])
        guard let alias = given?["address"]?.string else { throw fail("the node gave no alias", status: 69) }
        return alias
    }

    package init() {}
}

extension TrustedNodeError {
    fileprivate var exitStatus: Int32 {
        switch self {
        case .codeRefused, .refused: 1
        case .exchange, .socket, .unreadable, .noAnswer, .connectionEnded: 69
        }
    }
}
