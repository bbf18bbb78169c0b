import Testing

/// The program of all tests, which are swift-testing's. The one that SwiftPM would write in its place looks for XCTest's in the
/// index for editors, and so needs one: a quarter of the build.
@main
struct Tests {
    static func main() async {
        // `swift test` asks for XCTest's first. There are none.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
