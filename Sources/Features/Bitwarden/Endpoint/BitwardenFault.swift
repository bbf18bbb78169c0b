import Encodings
import HTTP1
import JSONCoding

/// A fault of a request, in the words and the JSON of Bitwarden's own relay (bitwarden/server, `ErrorResponseModel`): its
/// clients log them, and expect JSON also when something fails.
package struct BitwardenFault: Error, Equatable {
    package var status = 400
    package var message: String
    /// The texts by field; empty: none is to blame.
    package var fields: [String: String] = [:]

    static func invalid(_ field: String, _ text: String) -> BitwardenFault {
        BitwardenFault(message: "The model state is invalid.", fields: [field: text])
    }

    static func required(_ field: String) -> BitwardenFault {
        invalid(field, "The \(field) field is required.")
    }

    static let unauthorized = BitwardenFault(status: 401, message: "Unauthorized.")
    static let notFound = BitwardenFault(status: 404, message: "Resource not found.")
    static let payloadTooLarge = invalid("Payload", "The payload is too large for a push.")
    /// The fault that its clients see when it is ours.
    static let unavailable = BitwardenFault(status: 503, message: "Not stored. Try again later.")

    package var response: HTTPResponse {
        var body = Array(#"{"object":"error","message":"#.utf8)
        body.append(jsonString: message)
        body.append(contentsOf: #","validationErrors":"#.utf8)
        if fields.isEmpty {
            body.append(contentsOf: "null".utf8)
        } else {
            for (index, (field, text)) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
                body.append(UInt8(ascii: index == 0 ? "{" : ","))
                body.append(jsonString: field)
                body.append(contentsOf: ":[".utf8)
                body.append(jsonString: text)
                body.append(UInt8(ascii: "]"))
            }
            body.append(UInt8(ascii: "}"))
        }
        body.append(
            contentsOf: #","exceptionMessage":null,"exceptionStackTrace":null,"innerExceptionMessage":null}"#
                .utf8)
        var response = HTTPResponse(status: status, body: body)
        response.fields.append("content-type", "application/json; charset=utf-8")
        if status == 401 { response.fields.append("www-authenticate", "Bearer") }
        return response
    }
}
