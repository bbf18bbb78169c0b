import ArgumentParser
import Glibc
import Reactor

/// `onionbell-chaos`: breaks the built program on purpose and keeps books, outside of it, of what becomes of every
/// notification.
@main
struct Chaos: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "onionbell-chaos",
        abstract:
            "Kill node, tor and gateway at random instants, and see that nothing is lost or shown twice.",
        subcommands: [
            RoundsCommand.self, LoadCommand.self, OutagesCommand.self, PoisonCommand.self,
            TorOutagesCommand.self,
            RelayCommand.self, MailboxCommand.self, ClusterCommand.self,
            FloodCommand.self, StageCommand.self, GatewayCommand.self, RestartsCommand.self,
        ])

    /// Before anything else in a process that starts others.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        umask(0o077)
    }

    static var program: String { directoryOfProgram + "/onionbell" }
    static var node: String { directoryOfProgram + "/onionbelld" }
    static var itself: String { directoryOfProgram + "/onionbell-chaos" }

    private static var directoryOfProgram: String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = bytes.withUnsafeMutableBytes { buffer in
            readlink("/proc/self/exe", buffer.baseAddress!.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        let path = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
        return path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
}

/// A line to standard output, at once and as one call: what reads it through a pipe has it even if this process is
/// killed right after.
func say(_ line: String) {
    var text = line + "\n"
    text.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func pause(_ time: Duration) async { try? await Task.sleep(for: time) }

extension Int64 {
    /// Nanoseconds as seconds with two places.
    var seconds: String {
        let hundredths = magnitude / 10_000_000
        let rest = hundredths % 100
        return "\(self < 0 ? "-" : "")\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
