/// The torrc lines of the private network's members.
enum PrivateTorrc {
    /// Returns the lines for every tor in the network.
    static func member(of authorities: [AuthorityIdentity]) -> [String] {
        authorities.map(\.torrcLine) + [
            "TestingTorNetwork 1",
            // Start sooner: no country files, one worker thread, no second circuit for each.
            "GeoIPFile", "GeoIPv6File", "NumCPUs 1", "ConfluxEnabled 0",
            // TestingTorNetwork makes it 0. Then a relay that has moved some bytes when its descriptor is made is worth
            // more than all others together and is chosen for every place of a path: bootstrapping hung for ever in
            // one of ten starts.
            "TestingMinTimeToReportBandwidth 1 day",
        ]
    }

    static func relay(_ name: String, orPort: UInt16) -> [String] {
        [
            "Nickname \(name)", "Address 127.0.0.1", "ORPort 127.0.0.1:\(orPort)", "SocksPort 0",
            "ExitPolicy reject *:*", "AssumeReachable 1",
        ]
    }

    static func authority(_ identity: AuthorityIdentity) -> [String] {
        relay(identity.name, orPort: identity.orPort) + [
            "DirPort 127.0.0.1:\(identity.dirPort)", "ContactInfo none",
            "AuthoritativeDirectory 1", "V3AuthoritativeDirectory 1", "AuthDirSharedRandomness 0",
            "TestingDirAuthVoteGuard *", "TestingDirAuthVoteHSDir *", "TestingMinExitFlagThreshold 0",
            // Otherwise only the authorities are Stable, which onion circuits want: guard and last hop collide.
            "AuthDirVoteStableGuaranteeMinUptime 0", "AuthDirVoteStableGuaranteeMTBF 0",
        ] + DirectoryVote.farAway
    }
}
