extension Settings {
    /// Every file that holds a key or a password.
    package var credentialFiles: [String] {
        let files =
            [tor.passwordFile, doors.keyFile, status.gorushSecretFile] + apps.flatMap(\.settings.secretFiles)
        return files.filter { !$0.isEmpty }
    }
}
