import HTTP1
import Reactor
import Testing
import Wire

@testable import Lab

@EventLoop
@Suite struct SentValuesTests {
    private let values = SentValues()

    @Test func aLineThatHoldsOneIsFoundWhereverItStands() {
        var request = MobileNotificationRequest()
        request.uid = "uid-of-this-one"
        request.deviceToken = String(repeating: "ab", count: 32)
        request.message = "c2VjcmV0LCBlbmNyeXB0ZWQ="
        values.add(request)
        values.add(request)
        let lines = [
            "uid-of-this-one", "a reason=\"uid-of-this-on\"", "token=\(request.deviceToken)", "x",
            "{\"reason\":\"c2VjcmV0LCBlbmNyeXB0ZWQ=\"}", "\(request.deviceToken.dropLast())",
            "xuid-of-this-onex",
        ]
        #expect(values.lines(in: lines) == [lines[0], lines[2], lines[4], lines[6]])
    }

    @Test func whatHTTPClientsSayIsKnown() {
        values.add(
            HTTPRequest(
                method: "POST", path: "/v1/apns/device/0123456789abcdef",
                body: Array("{\"encrypted\":\"c2VjcmV0LCBlbmNyeXB0ZWQ=\",\"isUrgent\":true}".utf8)))
        values.add(HTTPRequest(method: "GET", path: "/relay", query: "isAndroid=true&token=a-token-of-fcm"))
        #expect(values.lines(in: ["0123456789abcdef"]).count == 1)
        #expect(values.lines(in: ["x c2VjcmV0LCBlbmNyeXB0ZWQ= y"]).count == 1)
        #expect(values.lines(in: ["a-token-of-fcm"]).count == 1)
        #expect(values.lines(in: ["isAndroid /v1/apns/device true"]).isEmpty)
    }
}
