import Glibc
import Processes
import Reactor

/// The programs that a torrc names for bridges (pluggable transports). Tor does not look whether one is there, and without
/// it never comes into the network.
struct TransportPrograms {
    /// The programs by the transports that bridges use; `nil`: no line names a program.
    private(set) var programs: [String: String?] = [:]

    init() {}

    /// Reads a torrc.
    ///
    /// - Parameter torrc: a line each: an option in any case, then its value.
    init(torrc: String) {
        var usesBridges = false
        var used: [String] = []
        var named: [Substring: String] = [:]
        for line in torrc.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        {
            let words = Substring(line.prefix { $0 != UInt8(ascii: "#") }).split { $0 == " " || $0 == "\t" }
            guard words.count > 1 else { continue }
            switch words[0].lowercased() {
            case "usebridges": usesBridges = words[1] == "1"
            case "bridge" where words[1].utf8.allSatisfy(Self.isPartOfName): used.append(String(words[1]))
            case "clienttransportplugin" where words.count > 2:
                // Others are reached at an address.
                let program = words.count > 3 && words[2].lowercased() == "exec" ? String(words[3]) : ""
                for name in words[1].split(separator: ",") { named[name] = program }
            default: break
            }
        }
        guard usesBridges else { return }
        for transport in used { programs[transport] = .some(named[Substring(transport)]) }
    }

    /// Whether a byte can stand in a transport's name; an address has a point or a colon.
    private static func isPartOfName(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: ".") && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "[")
    }

    /// The faults that keep tor from its bridges, each with what to do.
    var faults: [String] {
        programs.sorted { $0.key < $1.key }.compactMap { transport, program in
            guard let program else {
                return
                    "the bridges use \(transport), and no line ClientTransportPlugin names a program for it: add one"
            }
            guard !program.isEmpty, access(program, X_OK) != 0 else { return nil }
            return
                "the bridges use \(transport), and its program \(program) is not there: install it (Debian: "
                + "obfs4proxy), or correct ClientTransportPlugin"
        }
    }
}

extension Settings {
    /// The programs in the torrc of an own tor; none if it can't be read.
    var transports: TransportPrograms {
        guard tor.mode == .own, let path = try? TorConfiguration.path(setting: tor.torrc),
            let text = try? PrivateFile.read(path, limit: CredentialFiles.limit)
        else { return TransportPrograms() }
        return TransportPrograms(torrc: String(decoding: text, as: UTF8.self))
    }

    /// Reads ``transports`` off the loop.
    @FileThread
    func readTransports() -> TransportPrograms { transports }
}
