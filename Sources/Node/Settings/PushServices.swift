import Gateways
import Relay

/// The push services that this program knows: a new one is a folder of `Sources/Edge/Gateways` and a line here.
package enum PushServices {
    package static let all: [any ConfiguredApp.Type] = [
        APNsApp.self, FCMApp.self, RelayApp.self, WebPushApp.self, MailboxApp.self, NtfyApp.self,
    ]
}
