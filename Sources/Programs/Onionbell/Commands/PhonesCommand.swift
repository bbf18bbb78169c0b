#if Owner
    import ArgumentParser
    import OwnerCommands

    #if PhonePage
        import PhonePageCommands
    #endif

    /// `onionbell phones`: the operator's phone book.
    struct PhonesCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "phones",
            abstract: "Manage the phone book: names for phones, tests, and one address for several phones.",
            discussion: """
                A running node does what they say, at once, by the calls of its console. Where none runs, all but test use \
                its store. The book holds device tokens, never the keys of phones. Run it as the node's user: sudo -u \
                onionbell onionbell phones list.
                """,
            subcommands: [
                PhonesAddCommand.self, PhonesListCommand.self, PhonesShowCommand.self, PhonesTestCommand.self,
                PhonesRenameCommand.self, PhonesRemoveCommand.self, PhonesAliasCommand.self,
            ] + ofFeatures)

        private static var ofFeatures: [any ParsableCommand.Type] {
            #if PhonePage
                [PhonesLinkCommand.self]
            #else
                []
            #endif
        }
    }
#endif
