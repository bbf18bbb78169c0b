import Tor

extension Settings {
    /// Returns how the service is given to tor at start: guarded in tor's configuration, or plain on the
    /// control connection.
    ///
    /// - Parameter torDirectory: that of a managed Tor. The service's lies in it, or in the one that an instance shares.
    package func onionForm(torDirectory: String) -> OnionForm {
        var form = OnionForm()
        let shared = tor.mode == .instance ? tor.instanceDirectory : nil
        if isGuarded {
            form.directory = (shared ?? torDirectory) + "/service"
            form.front = OnionAddress(onion.publicAddress)
        }
        form.streamsPerCircuit = onion.streamsPerCircuit
        if onion.hasProofOfWork { form.proofOfWork = onion.work }
        if onion.introductions.perSecond > 0 { form.introductions = onion.introductions }
        return form
    }
}
