import Glibc
import Processes
import Tor

extension Settings {
    /// The faults that a start would find on this machine: of tor's program and of the place of the state directory. Who
    /// may read and write there is left to the start and to `doctor`, for this is asked as any user.
    package var missingPlaces: [SettingsFault] {
        var faults: [SettingsFault] = []
        if tor.mode == .own, !Settings.isProgram(tor.binary) {
            faults.append(
                SettingsFault(
                    key: "tor.binary",
                    problem: "there is no program \(tor.binary): install tor, or correct this"))
        }
        if let fault = DoorSockets(self).fault(in: self) { faults.append(fault) }
        faults += nodeFeatures.flatMap(\.faultsOfPlaces)
        if tor.mode == .own {
            let longest = TorProcess.longestDataDirectory - "/tor".utf8.count
            if stateDirectory.utf8.count > longest {
                faults.append(
                    SettingsFault(
                        key: "state_directory",
                        problem:
                            "\(stateDirectory) has \(stateDirectory.utf8.count) bytes, and tor's sockets in it leave room for \(longest): choose a shorter one"
                    ))
            }
            faults += transports.faults.map { SettingsFault(key: "tor.torrc", problem: $0) }
        }
        var status = stat()
        if stat(stateDirectory, &status) == 0 {
            if status.st_mode & S_IFMT != S_IFDIR {
                faults.append(
                    SettingsFault(key: "state_directory", problem: "\(stateDirectory) is not a directory"))
            } else if StateDirectory.isShared(stateDirectory, status) {
                faults.append(
                    SettingsFault(
                        key: "state_directory",
                        problem:
                            "others can open \(stateDirectory), and it holds files: name one of the node's own"
                    ))
            }
        } else if errno == ENOTDIR || errno == ENOENT && !Settings.hasParent(stateDirectory) {
            faults.append(
                SettingsFault(
                    key: "state_directory",
                    problem: "the directory that \(stateDirectory) would be in does not exist: create it"))
        }
        return faults
    }

    private static func hasParent(_ path: String) -> Bool {
        let parts = absolute(path).utf8.split(separator: UInt8(ascii: "/")).dropLast()
        let parent = "/" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        var status = stat()
        return stat(parent, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    private static func isProgram(_ name: String) -> Bool {
        guard !name.utf8.contains(UInt8(ascii: "/")) else { return access(name, X_OK) == 0 }
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.utf8.split(separator: UInt8(ascii: ":")).contains {
            access("\(String(decoding: $0, as: UTF8.self))/\(name)", X_OK) == 0
        }
    }
}
