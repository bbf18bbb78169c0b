// Any bytes on the HTTP port, or from a gateway. Built by Deploy/tools/fuzz.
@testable import HTTP1

func fuzzHTTP(_ input: [UInt8]) {
    guard !isCostOnly else {
        _ = requests(in: [input])
        _ = answers(in: [input])
        return
    }
    // The bytes themselves say where to cut, so an input always behaves the same.
    var pieces: [[UInt8]] = []
    var rest = input[...]
    while let first = rest.first {
        pieces.append(Array(rest.prefix(Int(first) % 23 + 1)))
        rest = rest.dropFirst(Int(first) % 23 + 1)
    }
    let bytes = input.map { [$0] }
    let whole = requests(in: [input])
    precondition(whole == requests(in: bytes), "single bytes are read differently")
    precondition(whole == requests(in: pieces), "pieces are read differently")
    precondition(answers(in: [input]) == answers(in: bytes), "single bytes are read differently")
    for request in whole.0 { check(request) }
    let text = String(decoding: input, as: UTF8.self)
    let decoded = try? String(percentEncoded: text.percentEncoded)
    precondition(decoded.map { Array($0.utf8) } == Array(text.utf8))
    _ = RetryAfter.duration(text, now: 1_795_000_000)
}

/// Short limits are within the reach of short inputs; what an input costs is measured with those of the endpoints.
private var limits: HTTPLimits { isCostOnly ? HTTPLimits() : HTTPLimits(head: 300, fields: 8, body: 40) }

private func requests(in pieces: [[UInt8]]) -> ([HTTPRequest], HTTPFault?) {
    var decoder = HTTPRequestDecoder(limits: limits)
    var found: [HTTPRequest] = []
    for piece in pieces {
        decoder.append(piece.span.bytes)
        do throws(HTTPFault) {
            while let request = try decoder.next() { found.append(request) }
        } catch {
            return (found, error)
        }
    }
    return (found, nil)
}

private func answers(in pieces: [[UInt8]]) -> ([HTTPResponse], HTTPFault?) {
    var decoder = HTTPResponseDecoder(limits: limits)
    var found: [HTTPResponse] = []
    do throws(HTTPFault) {
        for piece in pieces {
            decoder.append(piece.span.bytes)
            while let answer = try decoder.next() { found.append(answer) }
        }
        if let last = try decoder.end() { found.append(last) }
    } catch {
        return (found, error)
    }
    return (found, nil)
}

/// A request within the limits, from which nothing can be smuggled on.
private func check(_ request: HTTPRequest) {
    precondition(request.body.count <= limits.body)
    precondition(request.fields.count <= limits.fields)
    precondition(request.path.utf8.allSatisfy { (0x21..<0x7F).contains($0) })
    precondition(request.path.hasPrefix("/") || request.path == "*")
    for field in request.fields.all {
        precondition(!field.name.isEmpty && field.name == field.name.lowercased())
        precondition(!field.value.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 })
    }
    if let query = request.query { _ = try? HTTPQuery(query) }
}
