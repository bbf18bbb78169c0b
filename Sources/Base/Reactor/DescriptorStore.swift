import CSupport
import Glibc

/// The store of a service manager, which keeps descriptors open over the end of this process, however it ends, and hands
/// them to the next one (systemd.service(5), `FileDescriptorStoreMax=`). When the unit is stopped it closes them.
///
/// It never says what it has: whoever finds nothing there begins anew.
struct DescriptorStore: Sendable {
    /// The variable by which a manager says how many descriptors it keeps. systemd before 254 doesn't set it: our unit does.
    static let variable = "FDSTORE"

    private let socket: NotifySocket
    private let most: Int
    /// The names of what was stored by this process.
    private var names: Set<[UInt8]> = []

    /// Finds the store; `nil`: there is none.
    init?(_ environment: [String: String]) {
        guard let most = environment[DescriptorStore.variable].flatMap(Int.init), most > 0,
            let socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init)
        else { return nil }
        (self.most, self.socket) = (most, socket)
    }

    /// Has a descriptor kept. The store closes one that it has already.
    ///
    /// - Returns: Whether it is on its way there. When the store is full, it is not.
    mutating func put(_ name: String, _ number: CInt) -> Bool {
        let bytes = Array(name.utf8)
        guard names.contains(bytes) || names.count < most,
            // Unpolled it is kept also while it is at its end: then that is for the next process to see.
            socket.send("FDSTORE=1\nFDNAME=\(name)\nFDPOLL=0", with: number)
        else { return false }
        names.insert(bytes)
        return true
    }

    /// Takes out all of a name.
    mutating func remove(_ name: String) {
        names.remove(Array(name.utf8))
        _ = socket.send("FDSTOREREMOVE=1\nFDNAME=\(name)", with: nil)
    }

    /// Takes out what another process has put in, unless this one has something of that name there.
    func forgetForeign(_ name: String) {
        // A name with a line feed would be a message of its own.
        guard !names.contains(Array(name.utf8)), !name.isEmpty,
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { return }
        _ = socket.send("FDSTOREREMOVE=1\nFDNAME=\(name)", with: nil)
    }
}

extension Handover {
    /// Whether a service manager keeps for the process after this one what is stored.
    package var hasStore: Bool { contents.withLock { $0.store != nil } }

    /// Has a descriptor kept open for the process after this one. It stays in use here.
    ///
    /// - Returns: Whether it is kept.
    package func store(_ name: String, _ number: CInt) -> Bool {
        contents.withLock { $0.store?.put(name, number) ?? false }
    }

    /// Has something kept no more.
    package func forget(_ name: String) { contents.withLock { $0.store?.remove(name) } }

    func store(listener number: CInt) {
        if hasStore { _ = store(Handover.name(ofListener: number), number) }
    }

    func forget(listener number: CInt) {
        if hasStore { forget(Handover.name(ofListener: number)) }
    }

    /// Returns the name of a listening socket, which no other socket of this machine has.
    static func name(ofListener number: CInt) -> String {
        var status = stat()
        fstat(number, &status)
        return "listener-\(status.st_ino)"
    }
}

/// A file in memory, whose bytes whoever has a descriptor of it can read.
package final class MemoryFile: Sendable {
    private let descriptor: Descriptor
    package var number: CInt { descriptor.number }

    /// Makes an empty file; `nil`: there is no room for one.
    package init?(_ name: String) {
        let number = onionbell_memory_file(name)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(owning: number)
    }

    /// Replaces what is in it.
    package func write(_ bytes: [UInt8]) {
        guard ftruncate(number, 0) == 0 else { return }
        _ = pwrite(number, bytes, bytes.count, 0)
    }
}
