import HTTP1
import Relay
import Testing
import Vectors

@testable import Doors

@Suite struct RelayPostFormTests {
    /// With a wrong host or topic Apple refuses every token: that is no reason for Bisq to forget every phone.
    @Test(arguments: [
        (Receipt.ended(.refused(reason: .gateway("BadDeviceToken", .unknownToken))), false, true),
        (.ended(.refused(reason: .gateway("BadDeviceToken", .unknownToken))), true, false),
        (.ended(.tokenDead(reason: "Unregistered")), true, true), (.refused(.badDeviceToken), false, false),
        (.refused(.unknownApp), false, false),
        (.ended(.refused(reason: .gateway("SENDER_ID_MISMATCH", .foreignToken))), false, false),
    ])
    func aPhoneIsCalledUnregisteredOnlyByAGatewayThatKnows(
        receipt: Receipt, isDoubtful: Bool, isUnregistered: Bool
    ) {
        let answer = RelayPostForm.response(to: receipt, isDoubtful: isDoubtful)
        #expect(
            String(decoding: answer.body, as: UTF8.self).hasSuffix(#""isUnregistered":\#(isUnregistered)}"#))
    }
}
