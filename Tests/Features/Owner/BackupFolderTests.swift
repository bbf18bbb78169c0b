import Testing

@testable import Node
@testable import Owner

@Suite struct BackupFolderTests {
    /// A backup is somebody's file: none of what it brings may become a file of the user's that has nothing to do with the node.
    @Test(
        arguments: [
            ("credentials/key.p8", true), ("key.p8", true), ("a/b/c.pem", true),
            ("/etc/cron.d/job", false), ("/home/me/.ssh/authorized_keys", false), (".profile", false),
            ("../key.p8", false), ("a/../../key.p8", false), (".ssh/authorized_keys", false),
            ("credentials/.netrc", false),
        ])
    func onlyWhatLiesBesideTheSettingsIsWritten(name: String, isWritten: Bool) {
        #expect(NodeBackup.SettingsFolder("/home/me/onionbell.yaml").isBeside(name) == isWritten)
    }
}
