import Dispatching
import Encodings
import HTTP1
import JSONCoding
import Reactor
import Relay

/// Rings a phone of the phone book for `onionbell phones test`: `POST /phones/test?number=N` with the sealed message as
/// the body. Answers with what became of it: `{"outcome":"delivered"}`, with a `reason` where there is one.
///
/// Served over the socket in the state directory only, which nobody but the node's user can open.
@EventLoop
package final class PhoneTestDoor: HTTPDoor {
    private let dispatcher: Dispatcher
    private let book: @EventLoop () -> PhoneBook
    private let deadlines = OutcomeDeadlines(after: PhoneTestDoor.patience)
    private let counter: DoorCounter

    /// The command waits a little longer.
    package static let patience: Duration = .seconds(60)

    /// - Parameter book: As it is when a request comes.
    package init(dispatcher: Dispatcher, book: @escaping @EventLoop () -> PhoneBook) {
        self.dispatcher = dispatcher
        self.book = book
        counter = dispatcher.door("phone_test")
    }

    package func handler(for path: String) -> HTTPServer.Handler? {
        guard path == "/phones/test" else { return nil }
        return { [self] in test($0, $1) }
    }

    private func test(_ request: HTTPRequest, _ respond: @escaping @EventLoop (HTTPResponse) -> Void) {
        guard request.method == "POST" else { return respond(.methodNotAllowed("POST")) }
        guard let query = try? HTTPQuery(request.query ?? ""),
            let number = query["number"].flatMap(Int64.init),
            let phone = book().phone(number)
        else { return respond(HTTPResponse(status: 404, text: "no such phone")) }
        ring(phone, message: String(decoding: request.body, as: UTF8.self), then: respond)
    }

    /// The same for who knows the phone.
    package func ring(
        _ phone: PhoneBook.Phone, message: String, then respond: @escaping @EventLoop (HTTPResponse) -> Void
    ) {
        let submission = Submission(
            platform: phone.platform, app: phone.app, deviceToken: phone.deviceToken.text, message: message,
            isUrgent: true, hasSound: true, isMutableContent: true, isContentAvailable: true)
        let verdict = OutcomeWait(until: deadlines) { receipt, _ in
            respond(PhoneTestDoor.response(to: receipt))
        }
        // Whether the phone of a mailbox fetches it is what is tested.
        dispatcher.submit(submission, from: counter, awaitsOutcome: true) {
            if $0 != .kept { verdict.take($0) }
        }
    }

    private static func response(to receipt: Receipt) -> HTTPResponse {
        let (outcome, reason): (String, String?) =
            switch receipt {
            case .stored, .kept: ("stored", nil)
            case .busy: ("busy", nil)
            case .held(let reason): ("held", reason)
            case .ended(let ending): (ending.word, ending.reason?.code)
            }
        var body = Array(#"{"outcome":"\#(outcome)""#.utf8)
        if let reason {
            body.append(contentsOf: #","reason":"#.utf8)
            body.append(jsonString: reason)
        }
        body.append(UInt8(ascii: "}"))
        var response = HTTPResponse(status: 200, body: body)
        response.fields.append("content-type", "application/json")
        return response
    }
}
