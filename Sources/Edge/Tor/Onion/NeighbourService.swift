/// A further onion service of the same tor, with an address of its own. It is published and taken back together with the
/// first one, and nobody who knows the one address learns the other.
package struct NeighbourService: Sendable {
    package let key: OnionKey
    package let ports: [VirtualPort]
    /// The form of the service. It has a ``OnionForm/directory`` where the first service has one, and no
    /// neighbours of its own.
    package var form: OnionForm

    package init(key: OnionKey, ports: [VirtualPort], form: OnionForm) {
        (self.key, self.ports, self.form) = (key, ports, form)
    }

    package var address: OnionAddress { key.address }

    var directory: ServiceDirectory? { form.directory.map { ServiceDirectory(path: $0) } }

    /// Whether clients find this service that are not to find the other service.
    func letsIn(moreThan other: NeighbourService?) -> Bool {
        guard let other else { return true }
        guard let others = other.form.clients else { return false }
        return form.clients.map { !$0.isSubset(of: others) } ?? true
    }
}

extension NeighbourService: Equatable {
    package static func == (one: NeighbourService, other: NeighbourService) -> Bool {
        one.address == other.address && one.ports == other.ports && one.form == other.form
    }
}
