import Tor

extension Settings {
    /// How the service is given to tor at start: guarded in tor's configuration, or plain on the control connection.
    ///
    /// - Parameter torDirectory: that of our own tor; the service's lies in it.
    func onionForm(torDirectory: String) -> OnionForm {
        var form = OnionForm()
        if isGuarded { form.directory = torDirectory + "/service" }
        form.streamsPerCircuit = onion.streamsPerCircuit
        if onion.hasProofOfWork { form.proofOfWork = onion.work }
        if onion.introductions.perSecond > 0 { form.introductions = onion.introductions }
        return form
    }
}
