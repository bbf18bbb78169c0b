import CPostgreSQL

/// The place of a database, as `storage.url` names it, and the settings of the way there.
package struct PostgreSQLAddress: Equatable, Sendable {
    /// `postgresql://USER@HOST:PORT/DATABASE?NAME=VALUE`, or `postgresql:///DATABASE?host=/DIRECTORY`.
    package let url: String
    package var password: [UInt8]?

    package init(url: String, password: [UInt8]? = nil) {
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
            throw PostgreSQLError(message: PostgreSQLAddress.withoutValues(LibPQ.text(fault)))
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
        if let password { parameters.append(("password", String(decoding: password, as: UTF8.self))) }
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

    /// Returns libpq's words without their end: the part of the address that it could not read, which may be
    /// a password.
    private static func withoutValues(_ words: String) -> String {
        var rest = words.utf8[...]
        while !rest.isEmpty, !rest.starts(with: ": \"".utf8) { rest = rest.dropFirst() }
        return String(words[..<rest.startIndex])
    }

    /// Whether a parameter shows a password with a slash in it: such a password ends up in the port and the
    /// database's name, and so in what is said of them.
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
