import Foundation
import Reactor

/// h2load (nghttp2-client) against the same stand-in gateway, with the same requests, on the measured core: what an HTTP/2
/// client in C++ that does nothing else needs.
@EventLoop
struct Yardstick {
    let gateway: Bench.Gateway

    /// CPU seconds of `count` requests.
    func seconds(count: Int, window: Int = 100) async throws -> Double {
        let headers = try String(contentsOfFile: "\(gateway.directory)/headers", encoding: .utf8)
            .split(separator: "\n").flatMap { ["-H", String($0)] }
        let paths = try String(contentsOfFile: "\(gateway.directory)/paths", encoding: .utf8)
            .split(separator: "\n").map { "\(gateway.url)\($0)\n" }.joined()
        try paths.write(toFile: "\(gateway.directory)/urls", atomically: false, encoding: .utf8)
        // All other children have ended, or end later: what is added meanwhile is h2load's.
        let before = cpuSeconds(RUSAGE_CHILDREN)
        let lines = try await Child(
            [
                "h2load", "-n", "\(count)", "-c", "1", "-m", "\(window)", "-d",
                "\(gateway.directory)/body", "-i", "\(gateway.directory)/urls",
            ] + headers, core: .measured
        ).finish()
        let accepted = lines.first { $0.hasPrefix("status codes: ") }?.split(separator: " ")[2]
        // Like APNs the gateway takes one request at first; h2load opens its whole window, and loses that.
        guard let accepted = accepted.flatMap({ Int($0) }), accepted >= count - window else {
            throw BenchError("h2load: \(lines.suffix(8).joined(separator: " / "))")
        }
        return cpuSeconds(RUSAGE_CHILDREN) - before
    }
}
