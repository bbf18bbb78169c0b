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

    /// The credentials that systemd hands to the node, and that this user can't read where they lie: all is as it should
    /// be, and nothing can be said of what is in them. Root reads all; without systemd it is a fault.
    package var closedCredentials: [String] {
        guard geteuid() != 0, access("/run/systemd/system", F_OK) == 0 else { return [] }
        return credentialFiles.filter { path in
            let directory = path.split(separator: "/").dropLast().last.map(String.init)
            guard directory == SettingsReader.credentialsDirectory else { return false }
            return access(path, R_OK) != 0 && errno == EACCES
        }
    }
}
