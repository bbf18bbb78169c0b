import ArgumentParser
import Node
import Relay

/// A name of a mailbox, a reader or a publisher on the command line.
struct MailboxName: ParsableArguments {
    @Argument(help: "The name: 1 to 64 letters, digits, \".\", \"-\" and \"_\".")
    var name: String

    func validate() throws { try checkMailboxName(name) }
}

func checkMailboxName(_ name: String) throws {
    guard PhoneBook.isWord(name) else {
        throw ValidationError(
            "\(SettingsFault.shown(name)) is no name: 1 to 64 letters, digits, \".\", \"-\" and \"_\"")
    }
}
