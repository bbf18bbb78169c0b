import Relay

/// The phones of one server that were refused for their topics, with none served between them.
///
/// One phone's refusal is its own: a topic that its server's operator has not opened. Only when several phones hear the same
/// is it the app's.
struct RefusedPhones: Equatable, Sendable {
    /// The number of phones whose refusal is the app's.
    static let several = Deferral.fewWitnesses
    /// The time after which one phone's refused topic is tried again, at least.
    static let pause: Duration = .seconds(60)
    private var phones: [DeviceToken] = []

    mutating func accepted() { phones = [] }

    /// Notes that a phone was refused.
    ///
    /// - Returns: Whether several were, so that it is the app's.
    mutating func refused(_ phone: DeviceToken) -> Bool {
        if phones.count < RefusedPhones.several, !phones.contains(phone) { phones.append(phone) }
        return phones.count == RefusedPhones.several
    }
}
