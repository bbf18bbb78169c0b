import Clocks
import Crypto
import Dispatching
import Doors
import Logging
import Persistence
import Reactor
import Relay
import StatusIM

/// Status' push notification server (16/PUSH-NOTIFICATION-SERVER): takes registrations, answers queries, and pushes.
///
/// The server speaks Status' messages; what carries them is the doors' matter. Whoever sends is known by the
/// key that signed, and by nothing else. Every answer follows its commit.
@EventLoop
package final class StatusIMServer {
    /// The answer: Status' servers tell nothing with ``MessageDoor/Reply/silence``.
    package typealias Reply = MessageDoor.Reply
    package typealias Answer = @EventLoop (Reply) -> Void

    /// The key for which clients seal their registrations: 33 bytes.
    package var publicKey: [UInt8] { key.publicKey.compressed }

    private let settings: StatusIMServerSettings
    private let key: Secp256k1.PrivateKey
    private let registrations: StoredStatusIMRegistrations
    private let dispatcher: Dispatcher
    package let figures: DoorCounter
    private let digest: KeyedDigest
    private let log: Logger
    /// New installations of each circuit.
    private var shares: MemoryShares
    private var newcomers: Newcomers

    /// Bytes of an answer to a query, about: more than the largest that a client is known to need.
    private nonisolated static let longestQueryResponse = 1 << 20

    /// Makes the server.
    ///
    /// - Parameter digestKey: The node's key, under which the server keeps what must not be read from its
    ///   disk.
    package init(
        settings: StatusIMServerSettings, key: Secp256k1.PrivateKey,
        registrations: StoredStatusIMRegistrations,
        dispatcher: Dispatcher, digestKey: Secret, log: Logger
    ) {
        self.settings = settings
        self.key = key
        self.registrations = registrations
        self.dispatcher = dispatcher
        figures = dispatcher.door("status")
        digest = KeyedDigest(key: digestKey.bytes)
        self.log = log
        shares = MemoryShares(capacity: settings.installations)
        newcomers = Newcomers(capacity: settings.installations)
    }

    /// Takes one message.
    ///
    /// - Parameters:
    ///   - sender: The sender of the message; `nil`: not known.
    ///   - answer: Called once, when what it tells is durable.
    package func take(_ encoded: [UInt8], from sender: SenderID? = nil, answer: @escaping Answer) {
        guard let message = try? SignedMessage(encoded),
            let signer = Secp256k1.PublicKey(
                recoveredFrom: SignedMessage.digest(of: message.payload), signature: message.signature)
        else { return refuse(answer) }
        // Status' code hands such a message to nobody.
        guard !message.payload.isEmpty else { return answer(.silence) }
        switch message.kind {
        case .registration: register(message.payload, of: signer, from: sender, answer)
        case .query:
            guard let query = try? Query(message.payload, limit: settings.keysPerQuery) else {
                return refuse(answer)
            }
            self.answer(query, named: SignedMessage.id(signer: signer.uncompressed, encoded: encoded), answer)
        case .request:
            guard let request = try? PushRequest(message.payload, limit: settings.entriesPerRequest) else {
                return refuse(answer)
            }
            push(
                request, named: SignedMessage.id(signer: signer.uncompressed, encoded: encoded), from: sender,
                answer)
        case .registrationResponse, .queryResponse, .response, nil: refuse(answer)
        }
    }

    private func refuse(_ answer: Answer) {
        figures.count("refused")
        answer(.unreadable)
    }

    private func signed(_ payload: [UInt8], _ kind: SignedMessage.Kind) -> Reply {
        .message(
            SignedMessage(
                signature: key.sign(SignedMessage.digest(of: payload)), payload: payload, kind: kind
            )
            .encoded)
    }

    // MARK: Registering

    private func register(
        _ sealed: [UInt8], of client: Secp256k1.PublicKey, from sender: SenderID?, _ answer: @escaping Answer
    ) {
        figures.count("registration")
        Task {
            let fault = await fault(of: sealed, client, from: sender)
            if fault != nil { figures.count("refused") }
            answer(
                signed(
                    RegistrationResponse(fault: fault, requestID: Keccak.shake256(sealed)).encoded,
                    .registrationResponse))
        }
    }

    /// Keeps a registration.
    ///
    /// - Returns: The fault for which it is not kept; `nil`: it is kept.
    private func fault(
        of sealed: [UInt8], _ client: Secp256k1.PublicKey, from sender: SenderID?
    ) async -> RegistrationFault? {
        do {
            let registration = try opened(sealed, client)
            try registration.checkIdentity()
            let key = key(
                of: Keccak.shake256(client.compressed), installationID: registration.installationID)
            let known = try await registrations.version(of: key)
            try registration.check(storedVersion: known) { isGranted($0, by: client) }
            if known == nil, !registration.isUnregister {
                guard shares.mayTake(sender) else { return .internal }
            }
            switch try await put(registration, of: key, from: sender) {
            case .stored:
                if known == nil, !registration.isUnregister {
                    shares.taken(by: sender, at: EventLoop.now)
                    newcomers.add(key, by: sender)
                }
                return nil
            case .stale: return .versionMismatch
            case .full, .ownerFull: return .internal
            }
        } catch let fault as RegistrationFault {
            return fault
        } catch {
            return .internal
        }
    }

    /// Stores a registration, or removes it where the client unregisters. For a sender's phone, new or known, others may
    /// give way, and only if that makes enough room.
    private func put(
        _ registration: Registration, of key: StatusIMRegistration.Key, from sender: SenderID?
    ) async throws(OutboxError) -> StatusIMRegistration.PutResult {
        let encoded = registration.isUnregister ? nil : registration.encoded
        let result = try await registrations.put(
            encoded, of: key, version: registration.version, at: dispatcher.keptTime)
        var others = result == .full ? newcomers.giveWay(to: sender) : []
        guard !others.isEmpty else { return result }
        defer { newcomers.putBack(others) }
        let (second, left) = try await registrations.put(
            encoded, of: key, version: registration.version, at: dispatcher.keptTime,
            insteadOf: others.map(\.key))
        others.removeAll { !left.contains($0.key) }
        return second
    }

    /// Returns the registration that the client has sealed for this server.
    private func opened(
        _ sealed: [UInt8], _ client: Secp256k1.PublicKey
    ) throws(RegistrationFault) -> Registration {
        do {
            return try Registration(AES256GCM.open(sealed, key: key.sharedX(with: client)))
        } catch {
            throw .malformedMessage
        }
    }

    private func isGranted(_ registration: Registration, by client: Secp256k1.PublicKey) -> Bool {
        let digest = registration.grantDigest(client: client.compressed, server: publicKey)
        return Secp256k1.PublicKey(recoveredFrom: digest, signature: registration.grant) == client
    }

    private func owner(_ keyHash: [UInt8]) -> Relay.Digest {
        let pair = digest([UInt8(ascii: "o")] + keyHash)
        return Relay.Digest(high: pair.high, low: pair.low)
    }

    private func key(of keyHash: [UInt8], installationID: String) -> StatusIMRegistration.Key {
        let pair = digest([UInt8(ascii: "i")] + keyHash + [0] + Array(installationID.utf8))
        return StatusIMRegistration.Key(
            owner: owner(keyHash), installation: Relay.Digest(high: pair.high, low: pair.low))
    }

    // MARK: Queries

    private func answer(_ query: Query, named id: [UInt8], _ answer: @escaping Answer) {
        figures.count("query")
        guard !query.keyHashes.isEmpty else { return answer(.silence) }
        guard !query.isOverLimit else {
            figures.count("refused")
            return answer(signed(QueryResponse().encoded(to: id, isSuccess: false), .queryResponse))
        }
        var hashes: [[UInt8]] = []
        for hash in query.keyHashes where !hashes.contains(hash) { hashes.append(hash) }
        Task { [hashes] in
            let found = try? await registrations.reduce(
                hashes.map(owner), into: QueryResponse()
            ) { response, index, bytes in
                guard response.size + bytes.count <= StatusIMServer.longestQueryResponse else { return false }
                if let registration = try? Registration(bytes) {
                    response.add(registration, foundBy: hashes[index])
                }
                return true
            }
            answer(
                signed((found ?? QueryResponse()).encoded(to: id, isSuccess: found != nil), .queryResponse))
        }
    }

    // MARK: Pushing

    private func push(
        _ request: PushRequest, named id: [UInt8], from sender: SenderID?, _ answer: @escaping Answer
    ) {
        figures.count("request")
        guard !request.messageID.isEmpty else { return answer(.silence) }
        guard !request.isOverLimit else {
            figures.count("refused")
            return answer(
                response([PushResult](repeating: .internal, count: request.entries.count), to: request))
        }
        let pair = digest([UInt8(ascii: "m")] + id)
        let message = Relay.Digest(high: pair.high, low: pair.low)
        let keys = request.entries.map { key(of: $0.keyHash, installationID: $0.installationID) }
        Task {
            let looked = try? await registrations.look(for: message, keys) { places, phone in
                let registration = phone.flatMap { try? Registration($0.registration) }
                return places.map {
                    Plan(request.entries[$0], registration, phone)
                }
            }
            guard let (told, plans) = looked else { return answer(failed(request)) }
            if let told {
                figures.count("repetition")
                return answer(response(told.map { PushResult(rawValue: $0) ?? .internal }, to: request))
            }
            let pushed = await push(plans, of: request, keys, named: id, from: sender)
            // What there was no room for is tried again when the client repeats its message.
            if !pushed.wasBusy {
                let now = dispatcher.keptTime
                do throws(OutboxError) {
                    try await registrations.remember(
                        message, pushed.results.map(\.rawValue), at: now,
                        forgettingBefore: now - settings.messageMemory.milliseconds)
                } catch {
                    return answer(failed(request))
                }
            }
            answer(response(pushed.results, to: request))
        }
    }

    /// Makes the reply to a request when the store has failed: nothing is remembered, so its sender may retry it.
    private func failed(_ request: PushRequest) -> Reply {
        response([PushResult](repeating: .internal, count: request.entries.count), to: request)
    }

    private func response(_ results: [PushResult], to request: PushRequest) -> Reply {
        signed(PushResponse.encoded(results, to: request), .response)
    }

    /// Hands over what is to be sent; returns when the outbox has answered for all of it.
    private func push(
        _ plans: [Plan], of request: PushRequest, _ keys: [StatusIMRegistration.Key], named id: [UInt8],
        from sender: SenderID?
    ) async -> (results: [PushResult], wasBusy: Bool) {
        await withCheckedContinuation { continuation in
            var results = [PushResult](repeating: .internal, count: plans.count)
            var wasBusy = false
            var unknown = 1
            func known() {
                unknown -= 1
                if unknown == 0 { continuation.resume(returning: (results, wasBusy)) }
            }
            for (index, plan) in plans.enumerated() {
                switch plan {
                case .answered(let result): results[index] = result
                case .send(let target):
                    guard
                        var submission = StatusIMPush.submission(
                            request.entries[index], to: target,
                            uid: StatusIMPush.uid(messageID: id, index: index), apps: settings.apps)
                    else { continue }
                    submission.sender = sender
                    unknown += 1
                    var isKnown = false
                    dispatcher.submit(submission, from: figures, awaitsOutcome: true) { [self] receipt in
                        if case .ended(.tokenDead) = receipt { forget(keys[index], target.version) }
                        if case .ended(.delivered) = receipt { noteUse(of: keys[index], target) }
                        guard !isKnown else { return }
                        isKnown = true
                        results[index] = PushResult(receipt)
                        if case .busy = receipt { wasBusy = true }
                        known()
                    }
                }
            }
            known()
        }
    }

    /// Notes once a day that a phone is pushed to: such a phone keeps its place.
    private func noteUse(of key: StatusIMRegistration.Key, _ target: StatusIMTarget) {
        let now = UnixTime(milliseconds: dispatcher.keptTime)
        guard now - target.usedAt > .seconds(86_400) else { return }
        Task { try? await registrations.noteUse(of: key, at: now.milliseconds) }
    }

    /// Forgets a registration whose device token is dead: the next sender hears that nobody is registered.
    private func forget(_ key: StatusIMRegistration.Key, _ version: UInt64) {
        figures.count("forgotten")
        Task {
            do throws(OutboxError) {
                try await registrations.forget(key, version: version)
            } catch {
                // The node remembers the dead token itself: the next message for it comes here again.
                log.warning("registration.removal_failed", metadata: ["reason": "\(error)"])
            }
        }
    }
}
