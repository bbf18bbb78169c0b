import Crypto
import Glibc
import Node
import Persistence
import PostgreSQL
import Processes
import Reactor

/// The store of notifications and registrations in a PostgreSQL database, which several nodes may share.
package struct DatabaseFeature: StoreFeature {
    package static let name = "database"

    /// The address of the database; empty: the store is a file.
    package var url = ""
    package var passwordFile = ""

    package init(_ section: SettingsReader.Section, of settings: Settings) {
        section.text("url", &url)
        if !url.isEmpty, !DatabaseFeature.isAddress(url) {
            // It is not shown: there may be a password in it.
            section.fault("url", "must be empty, or postgresql://USER@HOST:PORT/DATABASE without a password")
        }
        section.credential("password_file", &passwordFile)
    }

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

    package var isWanted: Bool { !url.isEmpty }

    /// The faults that libpq finds in the URL.
    package var faultsOfPlace: [SettingsFault] {
        do throws(PostgreSQLError) {
            return try PostgreSQLAddress(url: url).files().filter { access($0.path, F_OK) != 0 }.map {
                SettingsFault(key: "storage.url", problem: "\($0.name): there is no such file")
            }
        } catch {
            return [SettingsFault(key: "storage.url", problem: error.description)]
        }
    }

    package var filesOfPlace: [(key: String, path: String)] {
        let files = (try? PostgreSQLAddress(url: url).files()) ?? []
        return files.map { ("storage.url", $0.path) }
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

    package func place(of settings: Settings) throws(NodeError) -> StorePlace {
        .database(
            DatabasePlace(
                try address(), key: try StateDirectory.digestKey(in: settings.stateDirectory),
                owner: try StateDirectory.identity(of: settings.stateDirectory),
                name: StateDirectory.hostName, version: programVersion), settings.built.tables)
    }
}

extension StateDirectory {
    /// Returns bytes that no other state directory has: they tell the leases of nodes apart. Only the holder of this
    /// directory's lock, as the node is, may use them. After a start of the machine they are others.
    fileprivate static func identity(of path: String) throws(NodeError) -> [UInt8] {
        var status = stat()
        guard stat(path + "/lock", &status) == 0 else {
            throw .unavailable("\(SystemError("look at \(path)/lock")). The node creates it")
        }
        let boot = (try? PrivateFile.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        return Array(Hash.sha256(boot + "\(status.st_dev) \(status.st_ino)".utf8).prefix(16))
    }

    fileprivate static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, 255) == 0 else { return "another machine" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
