import HTTP1
import JSONCoding
import Programs

/// The calls of `/api/v1`, as the console's pages have them.
extension NodeSocket {
    /// Carries out a call.
    ///
    /// - Parameters:
    ///   - path: Below `/api/v1/`.
    ///   - refusal: The exit status for what is there already, is not there or can't be used, in place of 1 and 65.
    /// - Returns: What it answers; `nil`: nothing.
    /// - Throws: An exit status, with the node's own sentence: 1 what is there forbids it, 64 or 65 it can't be used, 69 something
    ///   is missing, 78 the settings have no place for it.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ body: JSON? = nil, refusal: Int32? = nil
    ) async throws -> JSON? {
        var bytes: [UInt8] = []
        if let body { bytes.append(json: body) }
        let answer = try await send(method, "/api/v1/\(path)", bytes)
        let json = try? JSON(answer.body)
        guard !(200..<300).contains(answer.status) else { return json }
        throw fail(
            json?["message"]?.string ?? "the node answers with status \(answer.status)",
            status: [404, 409, 422].contains(answer.status)
                ? refusal ?? Self.exitStatus(of: answer.status) : Self.exitStatus(of: answer.status))
    }

    private static func exitStatus(of status: Int) -> Int32 {
        switch status {
        case 400: 64
        case 404, 409: 1
        case 422: 65
        default: 69
        }
    }
}
