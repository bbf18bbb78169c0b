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

    /// Takes the service down, with its introduction points and its clients' circuits: who has the old descriptor finds
    /// nothing by it.
    func shutOut(on link: TorLink) async throws(ControlError) {
        watch.selfDial.pause()
        try await service?.withdraw()
        // After an answer, all events about circuits that clients are about to come by have been read.
        try await link.connection.send(.getInfo(["version"]))
        let rendezvous = circuits.rendezvous
        presenceLog.shutsOut(circuits: rendezvous.count)
        for circuit in rendezvous { Task { await service?.closeCircuit(circuit) } }
    }

    /// Meets the clients of a tor that outlives us: takes their circuits into the book. A service of tor's configuration is removed first, and all of its clients are put out: of none do we
    /// know what it did. Otherwise they are put out where some may come no more.
    func meetFormerClients(on link: TorLink, of form: OnionForm) async throws(ControlError) {
        if form.directory != nil { try await link.connection.send(.resetServices) }
        do {
            try await bookCircuits(of: link, form)
        } catch .refused where form.directory == nil {
            // A filter before tor's control port may let this question through to nobody.
        }
        guard form.directory != nil || lastForm?.letsIn(moreThan: form) ?? false else { return }
        for circuit in circuits.rendezvous {
            do {
                try await link.connection.send(.closeCircuit(circuit))
            } catch .refused {
                // It has ended by itself.
            }
        }
    }

    /// Takes tor's circuits into the book, as if they had come by this connection.
    func bookCircuits(of link: TorLink, _ form: OnionForm) async throws(ControlError) {
        // From now on each end of a circuit is heard of.
        link.connection.onEvent = { [weak self] event in
            if case .circuit(let circuit) = event { self?.note(circuit, of: form) }
        }
        try await link.connection.send(.setEvents(ControlEvent.useful))
        let key = "circuit-status"
        let lines = try await link.connection.send(.getInfo([key]))[key] ?? ""
        for line in lines.split(separator: "\n") {
            // Read as the event of that circuit would be.
            let event = Array("CIRC \(line)".utf8)
            if let circuit = CircuitEvent(event.span) { note(circuit, of: form) }
        }
    }

    private func note(_ circuit: CircuitEvent, of form: OnionForm) {
        _ = circuits.take(circuit, of: address?.serviceID, isNeighbour: form.hasNeighbour)
    }

    /// Closes a client's circuit with all its streams, and no other of tor's circuits, whatever number is
    /// given.
    package func closeCircuit(_ circuit: UInt32) {
        Task {
            // After an answer, all events about it have been read.
            if !circuits.isClient(circuit) { _ = try? await link?.connection.send(.getInfo(["version"])) }
            guard circuits.isClient(circuit) else { return }
            await service?.closeCircuit(circuit)
        }
    }
}
