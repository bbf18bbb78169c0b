import Crypto
import Glibc
import Persistence
import PostgreSQL
import Processes
import Reactor

extension Settings {
    /// The store of notifications and registrations.
    package struct Storage: Sendable {
        /// The address of a PostgreSQL database; empty: a file in the state directory.
        package var url = ""
        package var passwordFile = ""

        /// Whether a text is an address, as far as can be seen without libpq: no password, which everybody
        /// would see who sees the configuration.
        static func isAddress(_ url: String) -> Bool {
            guard PostgreSQLAddress.isAddress(url) else { return false }
            let slash = UInt8(ascii: "/")
            let authority = url.utf8.drop { $0 != slash }.dropFirst(2).prefix {
                $0 != slash && $0 != UInt8(ascii: "?")
            }
            guard let user = authority.lastIndex(of: UInt8(ascii: "@")) else { return true }
            return !authority[..<user].contains(UInt8(ascii: ":"))
        }

        /// The faults that libpq finds in the URL.
        var faults: [SettingsFault] {
            guard !url.isEmpty else { return [] }
            do throws(PostgreSQLError) {
                return try PostgreSQLAddress(url: url).files().filter { access($0.path, F_OK) != 0 }.map {
                    SettingsFault(key: "storage.url", problem: "\($0.name): there is no such file")
                }
            } catch {
                return [SettingsFault(key: "storage.url", problem: error.description)]
            }
        }

        /// Returns the address with the password from its file.
        package func address() throws(NodeError) -> PostgreSQLAddress {
            var password: Secret?
            if !passwordFile.isEmpty {
                do throws(SettingsFault) {
                    let file = try readCredential(passwordFile, key: "storage.password_file")
                    password = Secret(
                        Array(file.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }))
                } catch {
                    throw .configuration("\(error)")
                }
            }
            return PostgreSQLAddress(url: url, password: password)
        }
    }

    /// Returns the place of the store, for commands beside the node or in its place.
    package func store() throws(NodeError) -> StorePlace {
        guard !storage.url.isEmpty else {
            return .file(StateDirectory.outbox(in: stateDirectory), built.tables)
        }
        return .database(
            DatabasePlace(
                try storage.address(), key: try StateDirectory.digestKey(in: stateDirectory),
                owner: try StateDirectory.identity(of: stateDirectory), name: StateDirectory.hostName,
                version: programVersion), built.tables)
    }
}

extension StateDirectory {
    /// Returns bytes that no other state directory has: they tell the leases of nodes apart. Only the holder of this
    /// directory's lock, as the node is, may use them. After a start of the machine they are others.
    static func identity(of path: String) throws(NodeError) -> [UInt8] {
        var status = stat()
        guard stat(path + "/lock", &status) == 0 else {
            throw .unavailable("\(SystemError("look at \(path)/lock")). The node creates it")
        }
        let boot = (try? PrivateFile.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        return Array(Hash.sha256(boot + "\(status.st_dev) \(status.st_ino)".utf8).prefix(16))
    }

    static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, 255) == 0 else { return "another machine" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Settings {
    /// The files that the address of the database names, with the key that names them.
    var filesOfDatabase: [(key: String, path: String)] {
        let files = storage.url.isEmpty ? [] : (try? PostgreSQLAddress(url: storage.url).files()) ?? []
        return files.map { ("storage.url", $0.path) }
    }
}
