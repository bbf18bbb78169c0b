/// The clients that are let in, and those that are put out.
extension OnionPresence {
    /// Lets in these clients and no others, or with `nil` everybody.
    ///
    /// If somebody is kept out who was let in before, all connections end, and the service is made known with new
    /// introduction points. Otherwise streams that are open go on.
    package func use(clients: Set<ClientKey>?) {
        guard clients != form.clients else { return }
        form.clients = clients
        // While there is no service, the next one has the new form.
        if service != nil { lose(.form) }
    }

    /// Takes over the clients of a neighbour.
    package func use(clients: Set<ClientKey>?, ofNeighbour address: OnionAddress) {
        guard let index = form.neighbours.firstIndex(where: { $0.address == address }),
            form.neighbours[index].form.clients != clients
        else { return }
        form.neighbours[index].form.clients = clients
        if service != nil { lose(.form) }
    }

    /// Takes the service down with its introduction points and its clients' circuits, so that an old descriptor leads nowhere.
    func shutOut(on link: TorLink) async throws(ControlError) {
        watch.selfDial.pause()
        try await service?.withdraw()
        let rendezvous = try await rendezvous(on: link, of: form)
        presenceLog.shutsOut(circuits: rendezvous.count)
        for circuit in rendezvous { Task { await service?.closeCircuit(circuit) } }
    }

    /// Meets the clients of a tor that outlives us. A service of tor's configuration is removed first, and all of its clients
    /// are put out: of none do we know what it did. Otherwise they are put out where some may come no more.
    func meetFormerClients(on link: TorLink, of form: OnionForm) async throws(ControlError) {
        if form.directory != nil { try await link.connection.send(.resetServices) }
        guard form.directory != nil || lastForm?.letsIn(moreThan: form) ?? false else { return }
        for circuit in try await rendezvous(on: link, of: form) {
            do {
                try await link.connection.send(.closeCircuit(circuit))
            } catch .refused {
                // It has ended by itself.
            }
        }
    }

    /// Returns the circuits of all clients of the service and its neighbours, also of those that are about to come. None, if a
    /// filter before tor's control port lets this question through to nobody.
    private func rendezvous(on link: TorLink, of form: OnionForm) async throws(ControlError) -> [UInt32] {
        do {
            return try await link.connection.circuits().rendezvous { isOurs($0, in: form) }
        } catch .refused {
            return []
        }
    }

    private func isOurs(_ serviceID: String, in form: OnionForm) -> Bool {
        serviceID == address?.serviceID || form.hasNeighbour(serviceID)
    }

    /// Closes a client's circuit with all its streams, and no other of tor's circuits, whatever number is
    /// given.
    package func closeCircuit(_ circuit: UInt32) {
        guard unwanted == nil else {
            unwanted?.insert(circuit)
            return
        }
        unwanted = [circuit]
        Task {
            // All that came up while tor answered have the next answer together.
            while let those = unwanted, !those.isEmpty, let link {
                unwanted = []
                guard let circuits = try? await link.connection.circuits() else { break }
                for circuit in circuits.clients(of: { isOurs($0, in: form) }).intersection(those) {
                    await service?.closeCircuit(circuit)
                }
            }
            unwanted = nil
        }
    }
}
