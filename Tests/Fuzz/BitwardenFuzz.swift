// Any body sent to the door for Bitwarden servers, up to what a phone would get. Its first byte chooses the request.
// Built with the sources of the door's forms by Deploy/tools/fuzz.
@testable import Encodings
@testable import JSONCoding

private let forms = [
    ("POST", "register"), ("POST", "delete"), ("PUT", "add-organization"), ("PUT", "delete-organization"),
    ("POST", "send"),
]
private let installation = "93b60203-2c75-4ec9-b575-6651c7dad956"

func fuzzBitwarden(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let body = Array(input.dropFirst())
    guard Int(first) % 7 < forms.count + 1 else {
        if let asked = try? BitwardenTokenRequest(body) {
            precondition(BitwardenBody.isGUID(asked.installation))
        }
        return
    }
    guard Int(first) % 7 < forms.count else {
        // A path instead, as Vaultwarden deletes.
        guard let path = String(validating: body, as: UTF8.self) else { return }
        if case .delete(let id)? = try? BitwardenRequest(
            method: "POST", path: path, body: [], installation: installation)
        {
            precondition((1...256).contains(id.utf8.count))
        }
        return
    }
    let form = forms[Int(first) % 7]
    do throws(BitwardenFault) {
        let request = try BitwardenRequest(
            method: form.0, path: form.1, body: body, installation: installation)
        if case .send(let send) = request { check(send) }
    } catch {
        precondition((try? JSON(error.response.body)) != nil, "the answer is no JSON")
    }
}

private func check(_ send: BitwardenRequest.Send) {
    let given = try? JSON(Array(send.payload.utf8))
    precondition(given != nil, "the payload is no JSON")
    for type in 0...2 {
        guard case .prepared(let push)? = send.content(for: type, pushToken: "a")?.content else {
            precondition(type == 2)
            continue
        }
        let body = try? JSON(Array(push.body.utf8))
        let data = type == 0 ? body?["message"]?["data"] : body?["data"]
        precondition(data?["payload"] == .string(send.payload), "the phone gets another payload")
    }
}
