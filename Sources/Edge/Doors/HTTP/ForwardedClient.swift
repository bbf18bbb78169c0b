import Encodings
import HTTP1
import Reactor

/// Whose a request is, as the proxies before this node say in a header field.
///
/// Each proxy writes behind what it received from where it was called: into `X-Forwarded-For` and its kin an address, into
/// `Forwarded` (RFC 7239) an element with `for=`. So the value is read from its end, which no client can write: the last
/// address that is no trusted proxy's is the client's. With each address there may be a port and brackets, as Azure, IIS
/// and others write them.
enum ForwardedClient: Equatable {
    case address(NetworkAddress)
    /// Nothing readable is said of the client of this proxy; `nil`: one without an address.
    case unknown(of: NetworkAddress?)

    /// Proxies in a row; behind more of them nobody is looked for.
    private static let mostProxies = 32
    /// Bytes of the longest address with brackets, zone and port.
    private static let longest = 100

    /// Reads the client of a request from a header field in which proxies name it.
    ///
    /// - Parameters:
    ///   - name: The header field's name in lower case.
    ///   - proxy: The address that sent the request.
    init(
        in fields: HTTPFields, of name: String, from proxy: NetworkAddress?,
        isTrusted: (NetworkAddress) -> Bool
    ) {
        let isForwarded = name == "forwarded"
        var nearest = proxy
        var proxies = 0
        let client = fields.lastResult(of: name) { value -> ForwardedClient? in
            var rest = value.indices.map { value[$0] }[...]
            while !rest.isEmpty {
                let element = Self.takeLast(of: &rest, behind: ",", obeyingQuotes: isForwarded).trimmingBlanks
                guard !element.isEmpty else { continue }
                guard proxies < Self.mostProxies,
                    let address = isForwarded ? Self.address(inElement: element) : Self.address(element)
                else { return .unknown(of: nearest) }
                guard isTrusted(address) else { return .address(address) }
                nearest = address
                proxies += 1
            }
            return nil
        }
        // Where all are trusted the first one asks for itself.
        self = client ?? nearest.flatMap { proxies > 0 ? .address($0) : nil } ?? .unknown(of: proxy)
    }

    /// Returns the address in one element such as `for="[2001:db8::1]:4711";proto=https;by=_gate`.
    private static func address(inElement element: ArraySlice<UInt8>) -> NetworkAddress? {
        var rest = element
        while !rest.isEmpty {
            let pair = takeLast(of: &rest, behind: ";", obeyingQuotes: true)
            guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = pair[..<sign].trimmingBlanks.map(ASCII.lowercased)
            if name.elementsEqual("for".utf8) { return address(pair[(sign + 1)...].trimmingBlanks) }
        }
        return nil
    }

    /// Takes off what is behind the last separator outside of quotes. From the end, so that quotes which a client has
    /// left open change nothing of what a proxy has written behind them.
    private static func takeLast(
        of rest: inout ArraySlice<UInt8>, behind separator: Unicode.Scalar, obeyingQuotes: Bool
    ) -> ArraySlice<UInt8> {
        let whole = rest
        var isQuoted = false
        for index in whole.indices.reversed() {
            if obeyingQuotes, whole[index] == UInt8(ascii: "\"") {
                let escapes = whole[..<index].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
                if escapes.isMultiple(of: 2) { isQuoted.toggle() }
            }
            if !isQuoted, whole[index] == UInt8(ascii: separator) {
                rest = whole[..<index]
                return whole[(index + 1)...]
            }
        }
        rest = []
        return whole
    }

    /// Reads the address of `192.0.2.1`, `192.0.2.1:51000`, `2001:db8::1`, `[2001:db8::1]` or
    /// `[2001:db8::1]:51000`, also in quotes and with a zone; `nil`: no address, as `unknown` and the made-up
    /// names of RFC 7239 are none.
    private static func address(_ text: ArraySlice<UInt8>) -> NetworkAddress? {
        guard text.count <= longest else { return nil }
        var text = text
        if text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") {
            text = text.dropFirst().dropLast().filter { $0 != UInt8(ascii: "\\") }[...].trimmingBlanks
        }
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let behind = text[(end + 1)...]
            guard behind.isEmpty || isPort(behind) else { return nil }
            return withoutPort(text[..<end].dropFirst())
        }
        if let address = withoutPort(text) { return address }
        guard let colon = text.lastIndex(of: UInt8(ascii: ":")), isPort(text[colon...]) else { return nil }
        return withoutPort(text[..<colon])
    }

    private static func withoutPort(_ text: ArraySlice<UInt8>) -> NetworkAddress? {
        NetworkAddress(String(decoding: text.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self))
    }

    /// Whether a text is a port, `:51000`, or a made-up one (RFC 7239, 6), `:_name`.
    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.dropFirst()
        guard text.first == UInt8(ascii: ":"), let first = name.first else { return false }
        return first == UInt8(ascii: "_") || name.count <= 5 && name.allSatisfy { ASCII.digit($0) == 1 }
    }
}
