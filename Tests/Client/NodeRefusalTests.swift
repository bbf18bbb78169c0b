import HTTP1
import Testing

@testable import Client

/// Which answers end a reader of a mailbox: those that will be the same tomorrow.
@Suite struct NodeRefusalTests {
    private func isFinal(_ status: Int, _ body: String = "", after connected: Bool) -> Bool {
        NodeRefusal(HTTPResponse(status: status, text: body)).isFinal(hasConnected: connected)
    }

    /// A reader that was removed while it was connected hears 401 for ever.
    @Test func whatTheNodeItselfRefusesIsFinalAlsoAfterAGoodConnection() {
        for status in [400, 401, 403, 404] {
            for connected in [true, false] {
                #expect(isFinal(status, #"{"code":\#(status)01,"http":\#(status)}"#, after: connected))
            }
        }
        for status in [429, 500, 503, 507] {
            #expect(!isFinal(status, #"{"code":\#(status)01}"#, after: true), "\(status)")
            #expect(!isFinal(status, #"{"code":\#(status)01}"#, after: false), "\(status)")
        }
    }

    /// A proxy can answer for a node that is away; an address that never was a mailbox's is none tomorrow.
    @Test func whatAProxySaysEndsOnlyAReaderThatNeverWasConnected() {
        for status in [301, 302, 308, 400, 401, 403, 404, 405, 410, 426] {
            for body in ["", "<html>", #"{"code":7}"#, "404 page not found"] {
                #expect(!isFinal(status, body, after: true), "\(status) \(body)")
                #expect(isFinal(status, body, after: false), "\(status) \(body)")
            }
        }
        for status in [200, 408, 421, 425, 429, 500, 502, 503, 504] {
            #expect(!isFinal(status, "<html>", after: false), "\(status)")
        }
    }

    @Test func whatSpeaksAnotherProtocolIsFinalUnlessItDidBetterBefore() {
        for error in [WebSocket.OpeningError.notAWebSocket, .exchange(.notHTTP(.badStartLine))] {
            #expect(error.isFinal(hasConnected: false) && !error.isFinal(hasConnected: true))
        }
        #expect(!WebSocket.OpeningError.exchange(.noAnswer(after: .seconds(1))).isFinal(hasConnected: false))
    }
}
