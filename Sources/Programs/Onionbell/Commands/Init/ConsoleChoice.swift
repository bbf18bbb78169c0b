import ArgumentParser

/// The place of a new node's console.
enum ConsoleChoice: String, CaseIterable, ExpressibleByArgument {
    /// For a browser on the node's machine.
    case local
    /// At an onion address of its own, for Tor Browser elsewhere.
    case onion
    case off

    /// As `console.listen` has it.
    var places: String? {
        switch self {
        case .local: "[127.0.0.1:9480]"
        case .onion: "[onion]"
        case .off: nil
        }
    }
}
