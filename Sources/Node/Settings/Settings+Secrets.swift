import Glibc

extension Settings {
    /// Every file that holds a key or a password.
    package var credentialFiles: [String] {
        let files =
            [tor.passwordFile, storage.passwordFile, doors.keyFile, gorush.secretFile]
            + apps.flatMap(\.settings.secretFiles)
        return files.filter { !$0.isEmpty }
    }

    /// Every file that a copy of the node needs beside its settings: credentials, certificates, authorities. A torrc is none:
    /// whoever wrote a backup could run a program by it.
    var namedFiles: [String] {
        let files = credentialFiles + [doors.certificateFile] + apps.flatMap(\.settings.files)
        return files.filter { !$0.isEmpty }
    }

    /// Files that are read as they are, with the keys that name them.
    var plainFiles: [(key: String, path: String)] {
        [
            ("tor.torrc", tor.torrc), ("tor.password_file", tor.passwordFile),
            ("storage.password_file", storage.passwordFile), ("doors.gorush.secret_file", gorush.secretFile),
        ].filter { !$0.1.isEmpty }
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
        return (plainFiles + https + apps).filter { _, path in
            !isHandedOver || !Settings.isInCredentialsDirectory(path)
        }
    }

    private static func isInCredentialsDirectory(_ path: String) -> Bool {
        path.split(separator: "/").dropLast().last.map(String.init) == SettingsReader.credentialsDirectory
    }

    /// The credentials that systemd hands to the node, and that this user can't read where they lie: all is as it should
    /// be, and nothing can be said of what is in them. Root reads all; without systemd it is a fault.
    package var closedCredentials: [String] {
        guard geteuid() != 0, access("/run/systemd/system", F_OK) == 0 else { return [] }
        return credentialFiles.filter { path in
            guard Settings.isInCredentialsDirectory(path) else { return false }
            return access(path, R_OK) != 0 && errno == EACCES
        }
    }
}
