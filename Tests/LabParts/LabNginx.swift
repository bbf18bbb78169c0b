import Glibc
import Lab
import Reactor

/// A real nginx, as Debian has it, in front of a node. It ends with this process.
@EventLoop
package final class LabNginx {
    private let program: LabProgram

    private nonisolated static let path = "/usr/sbin/nginx"
    package nonisolated static var isInstalled: Bool { access(path, X_OK) == 0 }

    /// For a server's block: what it takes to pass on the client's address in both of the fields that know one, behind what
    /// the client itself has written there.
    package nonisolated static let forwarding = """
        proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header Forwarded $forwarded;
        """

    /// Returns when it serves.
    ///
    /// - Parameters:
    ///   - servers: Further lines of its `http` block.
    ///   - directory: It writes there.
    package init(_ servers: String, in directory: String) async throws {
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(directory)/nginx-\($0);"
        }
        let text = """
            daemon off; master_process off; worker_processes 1; pid \(directory)/nginx.pid;
            events { worker_connections 1024; }
            http {
            access_log off;
            \(folders.joined(separator: "\n"))
            map $http_forwarded $forwarded {
                "" "for=$remote_addr";
                default "$http_forwarded, for=$remote_addr";
            }
            \(servers)
            }

            """
        let file = directory + "/nginx.conf"
        try LabDirectory.write(Array(text.utf8), to: file)
        program = try LabProgram([
            Self.path, "-p", directory, "-e", "stderr", "-g", "error_log stderr notice;", "-c", file,
        ])
        // Said once its sockets are open.
        await program.wait { $0.exit != nil || $0.lines.contains { $0.contains("event method") } }
        guard program.exit == nil else {
            throw NginxFault(description: "nginx has ended: \(program.lines.suffix(3))")
        }
    }

    package func stop() async { await program.stop() }
}

package struct NginxFault: Error, CustomStringConvertible {
    package let description: String
}
