/// The progress of one service since its ADD_ONION, from what tor tells.
///
/// A descriptor goes to 16 directories of the public network (8 for this time period, 8 for the next), all at once.
/// Tor says nothing of a directory that it can't reach, so some may stay unheard of. Clients ask some of these
/// directories at random: the service counts as published when half of them have it, or when ``graceEnded(at:)`` says that
/// no more are to be waited for.
package struct Publication: Equatable, Sendable {
    package let serviceID: String
    package private(set) var bootstrap: Bootstrap
    package private(set) var uploadsBegun = 0
    package private(set) var uploads = 0
    package private(set) var uploadsFailed = 0
    /// Milliseconds since 1970.
    package private(set) var publishedAt: Int64?

    package init(of address: OnionAddress, bootstrap: Bootstrap) {
        serviceID = address.serviceID
        self.bootstrap = bootstrap
    }

    /// Makes the progress of a service that tor has from before: everything after the upload is known to who had it.
    init(of address: OnionAddress, bootstrap: Bootstrap, uploads: Int, publishedAt: Int64?) {
        self.init(of: address, bootstrap: bootstrap)
        (uploadsBegun, self.uploads, self.publishedAt) = (uploads, uploads, publishedAt)
    }

    package var state: OnionState {
        if let publishedAt { return .published(uploads: uploads, since: publishedAt) }
        if bootstrap.progress < 100 {
            return .bootstrapping(
                progress: bootstrap.progress, summary: bootstrap.warning ?? bootstrap.summary)
        }
        return .publishing
    }

    package mutating func take(_ event: ControlEvent, at now: Int64) {
        switch event {
        case .bootstrap(let bootstrap):
            self.bootstrap = bootstrap
        case .descriptor(let event) where event.serviceID == serviceID:
            take(event.action, at: now)
        case .descriptor, .circuitEstablished, .circuitNotEstablished, .networkLiveness, .clockSkew,
            .reloaded, .log, .unused:
            break
        }
    }

    private mutating func take(_ action: DescriptorEvent.Action, at now: Int64) {
        switch action {
        case .upload:
            uploadsBegun += 1
        case .uploaded:
            uploads += 1
            if uploads * 2 >= uploadsBegun, publishedAt == nil { publishedAt = now }
        case .failed:
            uploadsFailed += 1
        case .created, .requested, .received, .unused:
            break
        }
    }

    /// Counts the service as published if any directory has it: some seconds have passed since the first
    /// upload.
    package mutating func graceEnded(at now: Int64) {
        if uploads > 0, publishedAt == nil { publishedAt = now }
    }
}
