import Encodings
import Glibc

extension Settings {
    /// Every file that holds a key or a password.
    package var credentialFiles: [String] {
        let files = secretFiles.map(\.path) + apps.flatMap(\.settings.secretFiles)
        return files.filter { !$0.isEmpty }
    }

    /// Every file that a copy of the node needs beside its settings: credentials, certificates, authorities. A torrc is none:
    /// whoever wrote a backup could run a program by it.
    package var namedFiles: [String] {
        let files = credentialFiles + [doors.certificateFile] + apps.flatMap(\.settings.files)
        return files.filter { !$0.isEmpty }
    }

    /// Files that are read as they are, with the keys that name them.
    var plainFiles: [(key: String, path: String)] {
        (tor.torrc.isEmpty ? [] : [("tor.torrc", tor.torrc)])
            + secretFiles.filter { $0.key != "doors.https.key_file" }
    }

    /// Every file that the node's user has to be able to read, with the keys that name them. A file that systemd hands to the
    /// node is none.
    package var filesOfNode: [(key: String, path: String)] {
        let https = [
            ("doors.https.certificate_file", doors.certificateFile), ("doors.https.key_file", doors.keyFile),
        ].filter { !$0.1.isEmpty }
        let apps = apps.enumerated().flatMap { index, app in
            app.hasCredentials ? app.settings.files.filter { !$0.isEmpty }.map { ("apps[\(index)]", $0) } : []
        }
        let isHandedOver = access("/run/systemd/system", F_OK) == 0
        return (plainFiles + https + apps + (keeperOfStore?.filesOfPlace ?? [])).filter { _, path in
            !isHandedOver || !Settings.isInCredentialsDirectory(path)
        }
    }

    private static func isInCredentialsDirectory(_ path: String) -> Bool {
        path.split(separator: "/").dropLast().last.map(String.init) == SettingsReader.credentialsDirectory
    }

    /// Every file that a start reads by its name in the settings.
    package var filesOfStart: [String] { namedFiles + [tor.torrc].filter { !$0.isEmpty } }

    /// The files of credentials that systemd hands to the node and that this user can't read in their places. They are no
    /// fault, but their contents can't be checked. Root reads all; without systemd it is a fault.
    package var closedCredentials: [String] {
        guard geteuid() != 0, access("/run/systemd/system", F_OK) == 0 else { return [] }
        return credentialFiles.filter { path in
            guard Settings.isInCredentialsDirectory(path) else { return false }
            return access(path, R_OK) != 0 && errno == EACCES
        }
    }

    /// Returns a fault for each setting that names a program, if none of the other settings names the same one. Somebody who
    /// has entered the console, or has written a backup, may name none; somebody who may edit the file may.
    package func programFaults(beside others: [Settings]) -> [SettingsFault] {
        [
            ("tor.binary", tor.binary, others.map(\.tor.binary)),
            ("tor.torrc", tor.torrc, others.map(\.tor.torrc)),
        ]
        .compactMap { key, value, known in
            guard !known.contains(where: { $0.hasSameBytes(as: value) }) else { return nil }
            return SettingsFault(
                key: key,
                problem: "names what the node runs, and is changed in the file alone: leave it as it is here")
        }
    }
}
