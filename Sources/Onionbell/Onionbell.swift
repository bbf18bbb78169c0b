import ArgumentParser

@main
struct Onionbell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onionbell", abstract: "A push relay that is reached over Tor.")
}
