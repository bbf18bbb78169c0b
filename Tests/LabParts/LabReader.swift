import JSONCoding
import Lab
import Reactor

/// The built program as the reader of a mailbox: `onionbell receive --json`.
package typealias LabReader = LabProgram

extension LabReader {
    /// - Parameters:
    ///   - program: the `onionbell` binary.
    ///   - file: where it keeps its book.
    package convenience init(
        _ program: String, file: String, arguments: [String] = []
    ) throws(SystemError) {
        try self.init([program, "receive", "--json", "--file", file] + arguments)
    }

    /// What it has shown, in that order.
    package var shown: [JSON] {
        lines.filter { $0.utf8.first == UInt8(ascii: "{") }.compactMap { try? JSON(Array($0.utf8)) }
    }

    package var titles: [String] { shown.compactMap { $0["title"]?.string } }

    /// Returns when it has shown so many, or has ended.
    package func wait(forShown count: Int) async {
        await wait { program in
            program.exit != nil || program.lines.count { $0.utf8.first == UInt8(ascii: "{") } >= count
        }
    }

    /// Returns when it has connected for the first time, or has ended.
    package func connected() async {
        await wait { $0.exit != nil || $0.lines.contains { $0.contains("connected") } }
    }
}
