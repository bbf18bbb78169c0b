import Processes
import Reactor

/// The manual as it is installed with the program, or lies in the checkout that it was built in.
enum InstalledArticle {
    private static let folder = "Sources/Programs/Onionbell/Onionbell.docc"
    private static let limit = 256 << 10

    /// Reads an article of the manual.
    ///
    /// - Parameter name: letters only, such as `Metrics`.
    @FileThread
    static func read(_ name: String) -> [UInt8]? {
        let source = "\(folder)/\(name).md"
        guard let path = InstalledFile.path("../doc/onionbell/\(source)", source: source) else { return nil }
        return try? PrivateFile.read(path, limit: limit)
    }
}
