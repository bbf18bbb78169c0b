import CPostgreSQL
import Crypto

/// The place of a database, as `storage.url` names it, and the settings of the way there.
package struct PostgreSQLAddress: Equatable, Sendable {
    /// `postgresql://USER@HOST:PORT/DATABASE?NAME=VALUE`, or `postgresql:///DATABASE?host=/DIRECTORY`.
    package let url: String
    package var password: Secret?

    package init(url: String, password: Secret? = nil) {
        self.url = url
        self.password = password
    }

    /// Whether this looks like one, for those who have no libpq to ask.
    package static func isAddress(_ url: String) -> Bool {
        url.utf8.starts(with: "postgresql://".utf8) || url.utf8.starts(with: "postgres://".utf8)
    }

    /// Returns libpq's parameters, in its own words: all of the address, and what it leaves out.
    ///
    /// - Throws: libpq's own words about what is wrong with it, without what they repeat of it.
    package func parameters() throws(PostgreSQLError) -> [(name: String, value: String)] {
        let libpq = try LibPQ.load().pointee
        var fault: UnsafeMutablePointer<CChar>?
        guard let options = libpq.conninfoParse(url, &fault) else {
            defer { libpq.freemem(fault) }
            let words = PostgreSQLAddress.withoutValues(LibPQ.text(fault))
            let isUnknown = words.hasPrefix("invalid URI query parameter")
            let name = isUnknown ? unknownParameter(known: PostgreSQLAddress.names(libpq)) : nil
            throw PostgreSQLError(
                message: name.map { "\(words): libpq has no parameter \($0); leave it out" } ?? words)
        }
        defer { libpq.conninfoFree(options) }
        var parameters: [(name: String, value: String)] = []
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                parameters.append((String(cString: keyword), String(cString: value)))
            }
            option += 1
        }
        guard !parameters.contains(where: { $0.name == "password" || PostgreSQLAddress.isAstray($0) }) else {
            throw PostgreSQLError(message: "a password in the address: put it into storage.password_file")
        }
        for (name, known) in PostgreSQLAddress.words
        where parameters.contains(where: { $0.name == name && !known.contains($0.value) }) {
            throw PostgreSQLError(message: "\(name) must be one of \(known.joined(separator: ", "))")
        }
        for (name, value) in parameters
        where PostgreSQLAddress.numbers.contains(name) && Int32(value) == nil {
            throw PostgreSQLError(message: "\(name) must be a whole number")
        }
        for (name, value) in parameters where name == "port" && !PostgreSQLAddress.arePorts(value) {
            throw PostgreSQLError(message: "the port must be 1 to 65535")
        }
        if let password { parameters.append(("password", String(decoding: password.bytes, as: UTF8.self))) }
        // Without a host, libpq takes it from a service's file or the environment.
        let hosts = parameters.filter { ["host", "hostaddr"].contains($0.name) }
        let isHere = !hosts.isEmpty && hosts.allSatisfy { PostgreSQLAddress.isHere($0.value) }
        for (name, value) in [
            ("sslmode", isHere ? "prefer" : "verify-full"), ("connect_timeout", "2"),
            ("tcp_user_timeout", "3000"), ("keepalives_idle", "5"), ("keepalives_interval", "2"),
            ("keepalives_count", "3"), ("client_encoding", "UTF8"), ("application_name", "onionbell"),
        ] where !parameters.contains(where: { $0.name == name }) {
            parameters.append((name, value))
        }
        return parameters
    }

    /// Returns the files that the address names, by their parameters.
    package func files() throws(PostgreSQLError) -> [(name: String, path: String)] {
        try parameters().filter {
            ["sslrootcert", "sslcert", "sslkey", "sslcrl"].contains($0.name)
                && $0.value.utf8.first == UInt8(ascii: "/")
        }.map { ($0.name, $0.value) }
    }

    /// The values of parameters that libpq looks at only when it connects.
    private static let words: [(name: String, known: [String])] = [
        ("sslmode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]),
        ("gssencmode", ["disable", "prefer", "require"]),
        ("channel_binding", ["disable", "prefer", "require"]),
        (
            "target_session_attrs",
            ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]
        ),
        ("ssl_min_protocol_version", ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]),
        ("ssl_max_protocol_version", ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"]),
    ]

    /// Parameters that libpq reads as numbers only when it connects.
    private static let numbers = [
        "connect_timeout", "tcp_user_timeout", "keepalives", "keepalives_idle", "keepalives_interval",
        "keepalives_count",
    ]

    /// Whether these are ports, one for each host; libpq takes none for its own.
    private static func arePorts(_ list: String) -> Bool {
        list.split(separator: ",").allSatisfy { (1...65_535).contains(Int($0) ?? 0) }
    }

    /// Returns the names of all parameters that libpq knows.
    private static func names(_ libpq: onionbell_libpq) -> [String] {
        guard let options = libpq.conninfoParse("postgresql:///", nil) else { return [] }
        defer { libpq.conninfoFree(options) }
        var names = ["ssl"]
        var option = options
        while let keyword = option.pointee.keyword {
            names.append(String(cString: keyword))
            option += 1
        }
        return names
    }

    /// Returns the first parameter of the address that libpq does not know. `nil` if there is none, or if the text behind the
    /// question mark may be part of a password.
    private func unknownParameter(known: [String]) -> String? {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        let query = url.utf8[url.utf8.index(after: mark)...]
        guard !query.contains(UInt8(ascii: "@")) else { return nil }
        for parameter in query.split(separator: UInt8(ascii: "&")) {
            let name = String(Substring(parameter.prefix { $0 != UInt8(ascii: "=") }))
            guard name.utf8.count <= 40, name.utf8.allSatisfy(PostgreSQLAddress.isOfName) else { return nil }
            if !known.contains(name) { return name }
        }
        return nil
    }

    /// Whether a byte may stand in a parameter's name, of other programs' too: `currentSchema`, `pool-max`, `%70gbouncer`.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "%"):
            true
        case _: false
        }
    }

    /// Returns libpq's words without their end: the part of the address that it could not read, which may be
    /// a password.
    private static func withoutValues(_ words: String) -> String {
        var rest = words.utf8[...]
        while !rest.isEmpty, !rest.starts(with: ": \"".utf8) { rest = rest.dropFirst() }
        return String(words[..<rest.startIndex])
    }

    /// Whether a parameter has a part of a password. A password with a slash ends up in the port and in the database's name,
    /// and so in messages about them.
    private static func isAstray(_ parameter: (name: String, value: String)) -> Bool {
        switch parameter.name {
        case "port": !parameter.value.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ",") }
        case "dbname": parameter.value.utf8.contains(UInt8(ascii: "@"))
        case _: false
        }
    }

    /// Sockets and loopback of this machine; what names several hosts has to have all of them here.
    static func isHere(_ hosts: String) -> Bool {
        hosts.split(separator: ",").allSatisfy {
            $0.utf8.first == UInt8(ascii: "/") || ["localhost", "127.0.0.1", "::1"].contains($0)
        }
    }
}
