/// Why a message is not taken. The stream has lost its message boundary: a server answers ``status`` and closes.
package enum HTTPFault: Error, Equatable {
    /// The request line is longer than allowed, in bytes.
    case requestLineTooLong(limit: Int)
    /// The head, up to and with its empty line, is longer than allowed, in bytes.
    case headTooLarge(limit: Int)
    case tooManyFields(limit: Int)
    case bodyTooLarge(limit: Int)
    /// The first line is not `METHOD target HTTP/x.y` (or `HTTP/x.y status text`): also HTTP/0.9 and a TLS
    /// hello.
    case badStartLine
    /// HTTP, but not 1.x: also the preface of HTTP/2.
    case unsupportedVersion
    /// Neither `/path`, `*` nor `http://host/path`, nor over TLS `https://host/path`.
    case badTarget
    /// A `%` without two hex digits behind it, or what it encodes is not UTF-8.
    case badPercentEncoding
    /// NUL or another control byte, a line that ends without CR LF.
    case controlByte
    /// No name, blanks around it, or bytes that no field name has.
    case badField
    /// A field continued on the next line (`obs-fold`).
    case foldedField
    /// Missing in HTTP/1.1, given twice, or no host at all.
    case badHost
    /// The Content-Length is not a number, or is given more than once, even with the same value.
    case badContentLength
    /// Content-Length beside Transfer-Encoding: the way to smuggle a request past a proxy.
    case conflictingLengths
    case unknownTransferCoding
    case badChunk
    /// Something else than `100-continue` is expected of us.
    case unknownExpectation
    /// A server says again and again that its answer is still to come.
    case tooManyInterimAnswers(limit: Int)
    /// The stream ended within a message.
    case truncated

    /// The status that a server answers.
    package var status: Int {
        switch self {
        case .requestLineTooLong: 414
        case .headTooLarge, .tooManyFields: 431
        case .bodyTooLarge: 413
        case .unsupportedVersion: 505
        case .unknownTransferCoding: 501
        case .unknownExpectation: 417
        case .badStartLine, .badTarget, .badPercentEncoding, .controlByte, .badField, .foldedField, .badHost,
            .badContentLength, .conflictingLengths, .badChunk, .tooManyInterimAnswers, .truncated:
            400
        }
    }
}

extension HTTPFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .requestLineTooLong(let limit): "request line over \(limit) bytes"
        case .headTooLarge(let limit): "head over \(limit) bytes"
        case .tooManyFields(let limit): "more than \(limit) header fields"
        case .bodyTooLarge(let limit): "body over \(limit) bytes"
        case .badStartLine: "no HTTP/1.1 start line"
        case .unsupportedVersion: "HTTP version not supported"
        case .badTarget: "request target not understood"
        case .badPercentEncoding: "percent encoding not valid"
        case .controlByte: "control byte in the head"
        case .badField: "header field not valid"
        case .foldedField: "folded header field"
        case .badHost: "Host missing, repeated or not valid"
        case .badContentLength: "Content-Length not valid or repeated"
        case .conflictingLengths: "Content-Length and Transfer-Encoding together"
        case .unknownTransferCoding: "transfer coding not known"
        case .badChunk: "chunk not valid"
        case .unknownExpectation: "expectation not known"
        case .tooManyInterimAnswers(let limit): "more than \(limit) interim answers"
        case .truncated: "ends within a message"
        }
    }
}
