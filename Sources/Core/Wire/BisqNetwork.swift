/// A network of Bisq peers. Each envelope names it by its `message_version`.
///
/// The number is the network's place in Bisq's list plus 10 times the P2P version, which is 1 (Bisq 1,
/// `Version.java`, `BaseCurrencyNetwork.java`).
package enum BisqNetwork: String, CaseIterable, Sendable {
    case mainnet
    case testnet
    case regtest
    case daoTestnet = "dao-testnet"
    case daoBetanet = "dao-betanet"
    case daoRegtest = "dao-regtest"

    package var messageVersion: Int32 {
        switch self {
        case .mainnet: 10
        case .testnet: 11
        case .regtest: 12
        case .daoTestnet: 13
        case .daoBetanet: 14
        case .daoRegtest: 15
        }
    }
}
