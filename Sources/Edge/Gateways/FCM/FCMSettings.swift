import TLS

/// One app at Google.
package struct FCMSettings: Sendable {
    package var account: ServiceAccount
    package var baseURL: GatewayURL
    /// The URL that gives access tokens; `nil`: the service account's `token_uri`.
    package var tokenURL: GatewayURL?
    /// The authorities that may sign the hosts' certificates.
    package var trust: TLSTrust
    package var egress = Egress.direct
    /// Adds the block that the system shows by itself: for apps older than 1.3.4, which can't show data messages.
    package var withNotification: Bool

    package init(
        account: ServiceAccount, baseURL: GatewayURL, tokenURL: GatewayURL? = nil,
        trust: TLSTrust = .systemRoots,
        withNotification: Bool = false
    ) {
        self.account = account
        self.baseURL = baseURL
        self.tokenURL = tokenURL
        self.trust = trust
        self.withNotification = withNotification
    }

    func whereTokensAre() throws(GatewaySetupError) -> GatewayURL {
        if let tokenURL { return tokenURL }
        do throws(GatewayURL.Fault) {
            return try GatewayURL(account.tokenURI)
        } catch {
            throw .tokenURI(error)
        }
    }
}
