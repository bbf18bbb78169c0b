import CSupport
import Glibc
import Synchronization

/// The descriptors that outlive this program. A process that becomes its own successor by `execve` hands them on, and the
/// successor finds them here. A service manager's store hands them on in the same way.
///
/// They come as sd_listen_fds(3) has it: from number 3 on, as many as `LISTEN_FDS` says, with the names of
/// `LISTEN_FDNAMES`, for the process `LISTEN_PID`. A name is the word of whoever started this process: a listening socket
/// is found by the address that it is bound to, and each of the others is looked at by who takes it.
package final class Handover: Sendable {
    package static let shared = Handover()

    /// Descriptors that a process takes at most; further ones are closed.
    private static let most = Int(ONIONBELL_MOST_INHERITED)
    /// The number of kept descriptors at which no client's is added: the others are needed more.
    private static let mostBesideClients = 192
    private static let client = "client-"
    private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

    /// The program that gets what is handed on.
    package enum Successor: Equatable, Sendable {
        /// One that this process becomes.
        case thisProcess
        /// One that a service manager starts, by its store.
        case anotherProcess
    }

    struct Held {
        let name: String
        /// Owned by the hand-over until somebody takes it.
        let number: CInt
    }

    struct Contents {
        fileprivate(set) var held: [Held] = []
        /// Copies of what this process was handed, for ``becomeAgain(_:arguments:environment:keeping:_:)``.
        fileprivate var copies: [Held] = []
        fileprivate var successor: Successor?
        /// Descriptors that this process was promised, and that can't be used.
        fileprivate var missing = 0
        /// The service manager's store; `nil`: it keeps nothing for us.
        var store: DescriptorStore?
    }

    let contents = Mutex(Contents())

    // MARK: What was handed over

    /// Takes the descriptors that were handed to the process, before it opens anything, and removes their variables from its
    /// environment.
    package func receive(_ environment: [String: String]) {
        for name in Handover.variables + [DescriptorStore.variable] { unsetenv(name) }
        let store = DescriptorStore(environment)
        contents.withLock { $0.store = store }
        guard environment["LISTEN_PID"].flatMap(pid_t.init) == getpid(), let told = environment["LISTEN_FDS"],
            told != "0"
        else { return }
        guard let count = Int(told), (1...Handover.most).contains(count) else {
            return contents.withLock { $0.missing = 1 }
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(
            separator: ":", omittingEmptySubsequences: false)
        let held = (0..<count).compactMap { index -> Held? in
            let number = CInt(3 + index)
            // At a number that was promised and was free a library of this process has opened its own, or opens it now:
            // libdispatch reads its threads' state by a descriptor that is open for a moment.
            guard onionbell_is_inherited(number), fcntl(number, F_SETFD, FD_CLOEXEC) == 0 else { return nil }
            return Held(name: index < names.count ? String(names[index]) : "", number: number)
        }
        contents.withLock { ($0.held, $0.missing) = (held, count - held.count) }
    }

    /// Keeps copies of what this process was handed until its start is over (``closeRest()``), whatever the start does with it.
    package func keepCopies() {
        contents.withLock { contents in
            contents.copies = contents.held.compactMap { held in
                let number = onionbell_copy_descriptor(held.number)
                return number >= 0 ? Held(name: held.name, number: number) : nil
            }
        }
    }

    /// Takes a listening stream socket that is bound to an address and found there; `nil`: there is none.
    func takeListener(at address: SocketAddress) -> Descriptor? {
        guard address.canBeFound else { return nil }
        return take {
            Handover.isListening($0.number) && address.isBound(by: $0.number)
                && fcntl($0.number, F_SETFL, O_NONBLOCK) == 0
        }
    }

    /// Takes the clients that were connected to a listener at an address, and from which nothing has been read.
    @EventLoop
    func takeClients(at address: SocketAddress) -> [Stream] {
        var found: [Stream] = []
        while let held = takeHeld({ $0.name.hasPrefix(Handover.client) && address.isBound(by: $0.number) }),
            fcntl(held.number, F_SETFL, O_NONBLOCK) == 0
        {
            let stream = Stream(inheriting: Descriptor(owning: held.number))
            stream.circuit = UInt32(held.name.dropFirst(Handover.client.count))
            found.append(stream)
        }
        return found
    }

    /// Takes the descriptor of a name; `nil`: there is none. Its kind is not known.
    package func take(_ name: String) -> Descriptor? {
        take { $0.name == name }
    }

    private func take(_ isWanted: (Held) -> Bool) -> Descriptor? {
        takeHeld(isWanted).map { Descriptor(owning: $0.number) }
    }

    private func takeHeld(_ isWanted: (Held) -> Bool) -> Held? {
        contents.withLock { contents in
            guard contents.successor == nil, let index = contents.held.firstIndex(where: isWanted) else {
                return nil
            }
            return contents.held.remove(at: index)
        }
    }

    /// Closes the descriptors that nobody has taken, and removes them from the store. Called once the start has all it needs.
    ///
    /// - Returns: The number of descriptors that were of no use, with those that were promised and are none.
    package func closeRest() -> Int {
        let (rest, copies, missing) = contents.withLock { contents in
            defer { (contents.held, contents.copies, contents.missing) = ([], [], 0) }
            for held in contents.held { contents.store?.forgetForeign(held.name) }
            return (contents.held, contents.copies, contents.missing)
        }
        for held in rest + copies { close(held.number) }
        return rest.count + missing
    }

    private static func isListening(_ number: CInt) -> Bool {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) == 0 && value != 0
            && getsockopt(number, SOL_SOCKET, SO_TYPE, &value, &length) == 0
            && value == CInt(SOCK_STREAM.rawValue)
    }

    // MARK: Handing on

    /// Whether what closes now is kept open for a successor.
    package var isHandingOn: Bool { contents.withLock { $0.successor != nil } }

    /// Whether this process becomes its successor.
    package var isInPlace: Bool { contents.withLock { $0.successor == .thisProcess } }

    /// Keeps open from now on what closes and can be handed on.
    package func begin(for successor: Successor) { contents.withLock { $0.successor = successor } }

    /// Goes back from handing on to a start in this program: what was kept can be taken.
    package func takeBack() { contents.withLock { $0.successor = nil } }

    func keep(listener: consuming Descriptor) {
        let name = Handover.name(ofListener: listener.number)
        keep(name, listener)
    }

    /// Whether the successor will find a client's connection: beside the listener that the client has come to.
    func findsClient(_ number: CInt) -> Bool {
        contents.withLock { contents in
            contents.successor == .thisProcess && contents.held.count < Handover.mostBesideClients
                && contents.held.contains { held in
                    Handover.isListening(held.number)
                        && SocketAddress(boundBy: held.number)?.isBound(by: number) == true
                }
        }
    }

    /// Keeps a client's connection open for the successor's listener.
    ///
    /// - Parameter circuit: What has been read of it: the circuit by which it comes, as tor says before all else.
    func keep(client descriptor: consuming Descriptor, circuit: UInt32?) {
        keep(Handover.client + (circuit.map(String.init) ?? ""), descriptor)
    }

    /// Keeps a descriptor open for the successor.
    package func keep(_ name: String, _ descriptor: consuming Descriptor) {
        let number = descriptor.release()
        contents.withLock { $0.held.append(Held(name: name, number: number)) }
    }

    /// Keeps bytes for the successor, in a file of memory.
    package func keep(_ name: String, _ bytes: [UInt8]) {
        guard let file = MemoryFile(name) else { return }
        file.write(bytes)
        if let copy = Descriptor(copying: file.number) { keep(name, copy) }
    }

    /// Takes bytes that were kept under a name, up to a limit.
    package func takeBytes(_ name: String, limit: Int) -> [UInt8]? {
        guard let file = take(name) else { return nil }
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = pread(file.number, &bytes, bytes.count, 0)
        return count == bytes.count ? bytes : nil
    }

    /// Becomes another program, which finds what was kept.
    ///
    /// - Returns: Only if that is impossible, with the reason; then nothing has changed.
    @EventLoop
    package func become(_ program: String, arguments: [String], environment: [String: String]) -> SystemError
    {
        Handover.become(program, arguments, environment, contents.withLock { $0.held })
    }

    /// Becomes a program from whatever thread, also where the event loop hangs: it finds what this process was handed itself,
    /// and bytes under a name.
    ///
    /// - Returns: Only if that is impossible, with the reason; then nothing has changed.
    package func becomeAgain(
        _ program: String, arguments: [String], environment: [String: String], keeping name: String,
        _ bytes: [UInt8]
    ) -> SystemError {
        guard let file = MemoryFile(name) else { return SystemError("start \(program)") }
        file.write(bytes)
        let copies = contents.withLock { $0.copies }
        return Handover.become(
            program, arguments, environment, copies + [Held(name: name, number: file.number)])
    }

    private static func become(
        _ program: String, _ arguments: [String], _ environment: [String: String], _ held: [Held]
    ) -> SystemError {
        // Those that this program was given are used up.
        var variables = environment.filter { !Handover.variables.contains($0.key) }
        if !held.isEmpty {
            variables["LISTEN_PID"] = "\(getpid())"
            variables["LISTEN_FDS"] = "\(held.count)"
            variables["LISTEN_FDNAMES"] = held.map(\.name).joined(separator: ":")
        }
        _ = withCStrings([program] + arguments) { arguments in
            withCStrings(variables.map { "\($0.key)=\($0.value)" }) { variables in
                onionbell_succeed(program, arguments, variables, held.map(\.number), CInt(held.count))
            }
        }
        return SystemError("start \(program)")
    }
}
