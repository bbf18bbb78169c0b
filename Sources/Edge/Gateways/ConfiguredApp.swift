import Crypto
import Encodings
import Glibc
import Logging
import Outbound
import Reactor
import Relay
import TLS

/// One app at its push service as the operator configured it: all that the folder of a gateway brings. The program has
/// one list of the conformers.
package protocol ConfiguredApp: Sendable {
    /// How `apps[].gateway` names the service.
    static var gateway: String { get }
    /// The words with which the service refuses a device token that nobody has. `onionbell watch` sends to such a token, and
    /// these words say that the service has read the request.
    static var wordsOfNobody: [String] { get }
    /// Whether the service may ring phones that are not in the phone book.
    static var ringsStrangers: Bool { get }

    /// Declares and reads each of the app's keys in an entry of `apps`, and reports the fault of one to the section.
    init(_ section: any SettingsSection)

    /// The service as the core sees it.
    var service: any PushService { get }
    /// The hosts that have a lane from the start: the service's own names. Others come with their first notification,
    /// as ``OpenedApp`` makes a gateway for each.
    var hosts: [LaneHost] { get }
    /// Whether the app has credentials. Without them the app is known, and nothing is sent by it.
    var hasCredentials: Bool { get }
    /// Files that hold a key or a password. Empty names stand for none.
    var secretFiles: [String] { get }
    /// All files that are read: when one changes it is taken over.
    var files: [String] { get }
    /// The names of the settings that are read again while the node runs, besides the contents of ``files``.
    var changeable: [String] { get }
    /// Files of secrets that the node makes in its state directory, each before it is needed for the first time.
    var ownFiles: [OwnFile] { get }
    /// The name by which senders of doors that make their own payloads mean an app of Apple's; `nil`: it is none.
    var topic: String? { get }
    /// The generation of Bisq whose phones the app serves, and no others; `nil`: that is not known here.
    var onlyForm: RelayForm? { get }
    /// The other relays that the app hands on to.
    var upstreams: [GatewayURL] { get }
    /// The one server that the app goes to, which its addresses may name: there may be another app of this
    /// gateway for another server. `nil`: one app serves all addresses of its form.
    var server: String? { get }
    /// A doubt about settings that can be read and are hardly right.
    var doubt: (words: String, advice: String)? { get }

    /// Reads the files, and makes a gateway for each of ``hosts``.
    @EventLoop
    func open(
        by egress: Egress, reading file: FileReader, log: Logger
    ) throws(CredentialFault) -> OpenedApp

    /// Reads the files, and makes a probe for each of ``hosts``.
    @EventLoop
    func probes(by egress: Egress, reading file: FileReader) throws(CredentialFault) -> [GatewayProbe]

    /// Returns the advice to an operator about a reason code of the service; `nil`: there is nothing more to say.
    static func advice(for reason: String) -> String?
}

extension ConfiguredApp {
    package static var ringsStrangers: Bool { true }
    package static var wordsOfNobody: [String] { [] }
    /// The advice about words that ask for patience.
    static var patience: String {
        "nothing: the push service is overloaded or in maintenance, and the node tries again by itself"
    }
    package var ownFiles: [OwnFile] { [] }
    package var changeable: [String] { [] }
    package var topic: String? { nil }
    package var onlyForm: RelayForm? { nil }
    package var upstreams: [GatewayURL] { [] }
    package var server: String? { nil }
    /// Whether the app's way goes through tor, however other gateways are reached: other relays are on this
    /// machine, or learn nothing of where it is.
    package var needsTor: Bool { upstreams.contains { !$0.endpoint.isLoopback } }
    package var doubt: (words: String, advice: String)? { nil }
}

/// A file that the node makes once.
package struct OwnFile: Sendable {
    package let path: String
    package let make: @Sendable () throws(CryptoError) -> Secret

    init(path: String, make: @escaping @Sendable () throws(CryptoError) -> Secret) {
        self.path = path
        self.make = make
    }
}

/// The gateways of an app.
package struct OpenedApp {
    package let gateways: [(host: LaneHost, gateway: any Gateway)]
    /// Hands what is in the files now to the gateways. The loop waits for no disk: they were read before.
    package typealias Reload =
        @EventLoop (_ app: any ConfiguredApp, _ file: @escaping FileReader) async throws(CredentialFault) ->
        Void
    /// The call that takes over the app as it is configured now: what can't change while the node runs is
    /// refused.
    package let reload: Reload
    /// Makes the gateway to an origin that an address names (``LaneHost/init(origin:)``). The caller starts the gateway, and
    /// stops it when it has been idle. `nil`: the app has no gateway to that origin.
    package let open: @EventLoop (LaneHost) -> (any Gateway)?

    package init(
        _ gateways: [(host: LaneHost, gateway: any Gateway)],
        opening open: @escaping @EventLoop (LaneHost) -> (any Gateway)? = { _ in nil },
        reload: @escaping Reload
    ) {
        self.gateways = gateways
        self.open = open
        self.reload = reload
    }
}

/// A fault of an app's files, in words for the operator.
package struct CredentialFault: Error, Equatable {
    /// The key that names the file; empty: the app as a whole.
    package let key: String
    package let problem: String
}

/// Reads a file of credentials as a whole.
package typealias FileReader = @Sendable (_ path: String) throws(SystemError) -> [UInt8]

// MARK: For the conformers

extension GatewayURL {
    init(_ text: String, key: String) throws(CredentialFault) {
        do throws(Fault) {
            try self.init(text)
        } catch {
            throw CredentialFault(key: key, problem: "\"\(text.withoutSecrets)\" is \(error)")
        }
    }
}

func read(_ path: String, key: String, by file: FileReader) throws(CredentialFault) -> [UInt8] {
    do throws(SystemError) {
        return try file(path)
    } catch {
        throw CredentialFault(key: key, problem: SystemError(ofNamedFile: path, error).wordsOfCredential)
    }
}

extension SystemError {
    /// The words about a file of credentials that can't be read, with what to do where the node's user may not.
    package var wordsOfCredential: String {
        guard code == EACCES else { return description }
        return
            "\(description): the node's user has to be able to read it (chgrp onionbell and chmod 0640, the file that root has made)"
    }
}

/// Returns the authorities of which one must have signed a gateway's certificate.
///
/// - Parameter caFile: The file of the authorities; empty: the system's.
func trust(in caFile: String, by file: FileReader) throws(CredentialFault) -> TLSTrust {
    guard !caFile.isEmpty else { return .systemRoots }
    let pem = try read(caFile, key: "ca_file", by: file)
    if let words = MistakenFile.words(for: pem, wanted: .certificate) {
        throw CredentialFault(key: "ca_file", problem: "\(caFile): \(words)")
    }
    return .authorities(pem: pem)
}

@EventLoop
func setUp<Value>(
    _ make: @EventLoop () throws(GatewaySetupError) -> Value
) throws(CredentialFault) -> Value {
    do throws(GatewaySetupError) {
        return try make()
    } catch {
        throw CredentialFault(key: "", problem: "\(error)")
    }
}
