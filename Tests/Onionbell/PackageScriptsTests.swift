import Foundation
import Testing

/// The scripts that dpkg runs: one that fails leaves the package half installed.
@Suite struct PackageScriptsTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Deploy/debian").standardized

    @Test(arguments: ["preinst", "postinst", "prerm", "postrm"])
    func eachVariableHasAValue(name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        let assigned = Set(text.matches(of: /(?m)^\s*([a-z_]+)=/).map { String($0.output.1) })
        let used = Set(text.matches(of: /\$\{?([A-Za-z_]+)/).map { String($0.output.1) })
        #expect(used.isSubset(of: assigned), "\(used.subtracting(assigned)) without a value")
    }
}
