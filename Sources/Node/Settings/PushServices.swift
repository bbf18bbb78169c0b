import Gateways
import Relay

/// The push services that every node knows: a new one is a folder of `Sources/Edge/Gateways` and a line here. A feature may have
/// one of its own.
package enum PushServices {
    package static let all: [any ConfiguredApp.Type] = [
        APNsApp.self, FCMApp.self, RelayApp.self, WebPushApp.self, NtfyApp.self,
    ]
}
