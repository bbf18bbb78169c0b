import Foundation
import Processes
import Reactor

/// What does nothing else with requests over HTTP/1.1: the measure for the node's doors. It has the node's core.
enum BareServer: String, CaseIterable {
    /// Hands each on to the gateway over HTTP/2 and its answer back: nghttp2's own proxy in C++, on the node's libraries.
    case nghttpx
    /// Answers each itself.
    case nginx

    /// The form of requests that it can answer.
    var form: HTTPCommand.Form { self == .nghttpx ? .apns : .post }

    /// - Parameter directory: It may write there.
    func arguments(on endpoint: Endpoint, gateway: Bench.Gateway, directory: String) throws -> [String] {
        let port = "\(endpoint)".split(separator: ":").last ?? ""
        switch self {
        case .nghttpx:
            let backend = gateway.url.split(separator: "/").last?.split(separator: ":") ?? []
            return [
                "nghttpx", "--conf=/dev/null", "--single-process", "--workers=1", "--log-level=ERROR",
                "--errorlog-file=/dev/stdout", "--frontend=127.0.0.1,\(port);no-tls",
                // Like h2load it takes whatever certificate is shown.
                "--backend=\(backend.joined(separator: ","));;tls;proto=h2", "--insecure",
            ]
        case .nginx:
            let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            let folders = kinds.map { "\($0)_temp_path \(directory)/\($0);" }.joined(separator: "\n")
            let configuration = """
                daemon off; master_process off; worker_processes 1;
                pid \(directory)/pid; error_log stderr error;
                events { worker_connections 1024; }
                http {
                access_log off; keepalive_requests 1000000000; client_body_buffer_size 64k;
                \(folders)
                server { listen 127.0.0.1:\(port); location / { return 201; } }
                }
                """
            let file = "\(directory)/nginx.conf"
            try configuration.write(toFile: file, atomically: false, encoding: .utf8)
            return ["nginx", "-p", directory, "-e", "stderr", "-c", file]
        }
    }
}

extension Bench {
    struct DoorFigures {
        /// CPU seconds.
        let cpu: Double
        let perSecond: Double
        /// Milliseconds.
        let median: Double
        let p99: Double

        init(_ report: LoadReport, cpu: Double) {
            self.cpu = cpu
            perSecond = Double(report.sent) / report.seconds
            let latency = report.outcome ?? report.receipt
            median = latency?.median ?? .nan
            p99 = latency?.p99 ?? .nan
        }
    }

    /// Lets a load run against a server that does nothing else, in front of this gateway.
    func measure(_ server: BareServer, gateway: Gateway, _ load: [String]) async throws -> DoorFigures {
        let endpoint = try Endpoint.host("127.0.0.1", port: freePort())
        let folder = try directory.make(server.rawValue)
        let child = try Child(
            try server.arguments(on: endpoint, gateway: gateway, directory: folder), core: .measured)
        do {
            try await waitUntilOpen(endpoint, child)
            let request = [
                "http", "--to", "\(endpoint)", "--directory", gateway.directory, "--form",
                server.form.rawValue,
            ]
            // Like APNs the gateway takes one request at first.
            _ = try await self.load(request + ["--clients", "1", "--count", "10"])
            _ = try await self.load(request + ["--count", "1000"])
            let before = try ProcessFigures(of: child.processID).cpu
            let report = try await self.load(request + load)
            let figures = DoorFigures(report, cpu: try ProcessFigures(of: child.processID).cpu - before)
            await child.end()
            return figures
        } catch {
            await child.end()
            throw error
        }
    }

    private func waitUntilOpen(_ endpoint: Endpoint, _ child: Child) async throws {
        for _ in 0..<500 where child.exit == nil {
            if let stream = try? await Reactor.Stream.connect(to: endpoint, deadline: .seconds(1)) {
                return stream.close()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw BenchError("nothing at \(endpoint): \(child.lines.suffix(3).joined(separator: " / "))")
    }
}
