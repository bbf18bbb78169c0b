import Pointing
import Testing

/// What `onionbell point` prints for each client.
@Suite struct PointingAdviceTests {
    private let node = PointedNode(address: ConfigurationEditTests.own)

    @Test(arguments: PointedClient.allCases)
    func everyLineToCopyNamesTheNode(client: PointedClient) {
        let advice = PointedSettings(client, at: node).advice
        #expect(advice.contains(node.address))
        #expect(advice.contains("Not tried"))
        #expect(!advice.contains("FSW"))
        #expect(!advice.contains("onionbell invite"))
    }

    @Test func fallbackAddsBisqsRelayAndSaysWhatThatMeans() {
        for client in [PointedClient.bisq2, .bisq2Docker] {
            let advice = PointedSettings(client, at: node, hasFallback: true).advice
            #expect(advice.contains("fallbackProviders.0.url=http://\(client.builtInAddress):8021"))
            #expect(advice.contains("Bisq's relay then sees the same device token"))
            // It remembers the failed one.
            #expect(advice.contains("leaves\nyour node for all phones, until it is restarted"))
        }
    }

    @Test(arguments: PointedClient.allCases)
    func aPrivateNodeNeedsTheClientsKey(client: PointedClient) {
        let advice = PointedSettings(client, at: PointedNode(address: node.address, isPrivate: true)).advice
        #expect(advice.contains("onionbell invite NAME"))
        #expect(advice.contains("ClientOnionAuthDir"))
    }

    /// A list of objects by index: tried with Typesafe's config library 1.3.1.
    @Test func aContainerGetsOneOptionForEachKey() {
        let options = PointedSettings(.bisq2Docker, at: node).javaOptions
        #expect(
            options == [
                "-Dapplication.bondedRoles.mobileNotifications.providers.0.url=http://\(node.address):8021",
                "-Dapplication.bondedRoles.mobileNotifications.providers.0.operator=me",
                "-Dapplication.bondedRoles.mobileNotifications.providers.0.apiPath=relay",
            ])
    }
}
