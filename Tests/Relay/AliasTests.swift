import Encodings
import Testing
import Vectors

@testable import Relay

/// One notification to an alias of the phone book: one for each phone, one answer.
@Suite struct AliasTests {
    private static let alias = PhoneBook.alias(String(repeating: "Ab-_", count: 24))

    /// A node that knows an alias for so many Android phones.
    private func node(phones count: Int = 2, limits: Admission.Limits = Admission.Limits()) -> Node {
        let node = Node(limits: limits)
        node.pipeline.use(book((0..<count).map { (.android, Sample.token($0)) }))
        return node
    }

    private func book(_ phones: [(Platform, String)]) -> PhoneBook {
        PhoneBook(
            phones.enumerated().map { index, phone in
                PhoneBook.Phone(
                    number: Int64(index + 1), name: "alice", platform: phone.0,
                    deviceToken: DeviceToken(phone.1))
            }, aliases: ["alice": Self.alias])
    }

    private func submission(_ uid: String? = nil, platform: Platform = .android) -> Submission {
        Submission(
            uid: uid, platform: platform, deviceToken: Self.alias.text, message: Sample.message)
    }

    private func told(_ node: Node) -> [Receipt] {
        node.takeEffects().compactMap { if case .tell(_, let receipt, _) = $0 { receipt } else { nil } }
    }

    /// Stores what was submitted; what the sender hears.
    private func store(_ node: Node, _ results: [StoreResult]? = nil) -> [Receipt] {
        let count = node.begin().count { if case .store = $0 { true } else { false } }
        return node.commit(results ?? (0..<count).map { _ in .stored(sequence: node.number()) })
    }

    @Test func eachPhoneGetsItsOwnInOneCommit() {
        let node = node(phones: 3)
        guard case .storing = node.submit(submission("uid")) else { return #expect(Bool(false)) }
        #expect(store(node) == [.stored])
        #expect(node.stores.map(\.notification.deviceToken.text) == (0..<3).map { Sample.token($0) })
        // One uid is three identities, so that none is a repetition of another.
        #expect(Set(node.stores.map(\.digests.identity)).count == 3)
        #expect(Set(node.stores.map(\.notification.id)).count == 3)
        #expect(node.sendAll().count == 3)
    }

    @Test func itIsDeliveredWhenTheFirstPhoneHasIt() throws {
        let node = node()
        _ = node.submit(submission(), awaitsOutcome: true)
        #expect(store(node) == [.stored])
        let (first, second) = (try #require(node.send()), try #require(node.send()))
        node.end(first, .refused(reason: "PayloadTooLarge"))
        _ = node.begin()
        #expect(node.commit() == [])
        node.end(second, .accepted)
        _ = node.begin()
        #expect(node.commit() == [.ended(.delivered)])
    }

    @Test func nothingIsToldOfTheOthersAfterTheFirst() throws {
        let node = node()
        _ = node.submit(submission(), awaitsOutcome: true)
        _ = store(node)
        let (first, second) = (try #require(node.send()), try #require(node.send()))
        node.end(first, .accepted)
        _ = node.begin()
        #expect(node.commit() == [.ended(.delivered)])
        // Its sender's id names another one by now.
        for number in 10..<14 { _ = node.submit(Sample.android("u\(number)", token: Sample.token(number))) }
        _ = store(node)
        node.end(second, .tokenDead(reason: "UNREGISTERED", since: nil))
        _ = node.begin()
        #expect(node.commit() == [])
        #expect(node.pipeline.aliasSenders.isEmpty)
    }

    @Test func itIsDeadOnlyWhenAllPhonesAre() throws {
        let node = node()
        _ = node.submit(submission(), awaitsOutcome: true)
        _ = store(node)
        let (first, second) = (try #require(node.send()), try #require(node.send()))
        for handle in [first, second] {
            node.end(handle, .tokenDead(reason: "UNREGISTERED", since: nil))
            _ = node.begin()
            let told = node.commit()
            #expect(
                told == (handle == first ? [] : [.ended(.tokenDead(reason: .gateway("UNREGISTERED")))]))
        }
        // And so is the next one, at once.
        guard case .answered(.ended(.tokenDead(.unregistered, _))) = node.submit(submission()) else {
            return #expect(Bool(false))
        }
    }

    @Test func aDeadPhoneBesideOneThatRefusesIsRefused() throws {
        let node = node()
        _ = node.submit(submission(), awaitsOutcome: true)
        _ = store(node)
        let (first, second) = (try #require(node.send()), try #require(node.send()))
        node.end(first, .refused(reason: "PayloadTooLarge"))
        node.end(second, .tokenDead(reason: "UNREGISTERED", since: nil))
        _ = node.begin()
        #expect(node.commit() == [.ended(.refused(reason: .gateway("PayloadTooLarge")))])
    }

    @Test func aPhoneWithoutRoomHoldsUpNoOther() {
        var limits = Admission.Limits()
        limits.waitingPerToken = 1
        let node = node(limits: limits)
        node.accept(Sample.android("first", token: Sample.token(0)))
        _ = node.submit(submission("second"), awaitsOutcome: true)
        #expect(store(node) == [.stored])
        guard case .answered(.busy(.device)) = node.submit(submission("third")) else {
            return #expect(Bool(false))
        }
    }

    @Test func aCommitThatFailsIsToldOnce() {
        let node = node(phones: 3)
        _ = node.submit(submission())
        _ = node.begin()
        _ = node.takeEffects()
        node.pipeline.commitFailed(.full, at: node.now)
        let told = told(node)
        #expect(told.count == 1)
        guard case .busy(.node)? = told.first else { return #expect(Bool(false)) }
        #expect(node.pipeline.aliasSenders.isEmpty)
    }

    @Test func aRepetitionIsRecognizedPhoneByPhone() {
        let node = node()
        _ = node.submit(submission("uid"), awaitsOutcome: true)
        // The second phone was put into the book after the first time.
        #expect(
            store(node, [.alreadyEnded(.delivered), .stored(sequence: node.number())])
                == [.ended(.delivered)])
        #expect(node.sendAll().count == 1)
    }

    @Test func itIsHeldWhenEachPhoneIs() throws {
        let node = Node()
        node.pipeline.use(book([(.ios, Sample.iosToken), (.iosDev, Sample.iosToken)]))
        _ = node.submit(submission(platform: .ios), awaitsOutcome: true)
        #expect(store(node) == [.stored])
        node.end(try #require(node.send(Node.ios)), .blocked(reason: "InvalidProviderToken"))
        #expect(told(node) == [])
        let sandbox = LaneID(app: "ios", host: .sandbox)
        node.end(try #require(node.send(sandbox)), .blocked(reason: "InvalidProviderToken"))
    }

    /// Nobody has to wait for phones that are away, and all hear when one has come.
    @Test func itIsKeptWhenNoOtherPhoneMayHaveItAtOnce() throws {
        let node = node(phones: 3)
        _ = node.submit(submission(), awaitsOutcome: true)
        #expect(store(node) == [.stored])
        let handles = try (0..<3).map { _ in try #require(node.send()) }
        func keep(_ place: Int) -> [Receipt] {
            node.pipeline.attemptEnded(handles[place], .kept, at: node.now, using: &node.random)
            return told(node)
        }
        #expect(keep(0) == [], "the others may have it at once")
        #expect(keep(1) == [])
        node.end(handles[2], .refused(reason: "PayloadTooLarge"))
        _ = node.begin()
        #expect(node.commit() == [.kept])
        node.pipeline.keptEnded(handles[1].sequence, .delivered)
        #expect(told(node) == [.ended(.delivered)])
        #expect(!node.pipeline.aliasSenders.isEmpty, "the other phone may still fetch it")
        node.pipeline.keptEnded(handles[0].sequence, .delivered)
        #expect(told(node) == [] && node.pipeline.aliasSenders.isEmpty)
    }

    @Test func whoDoesNotWaitHearsOnlyThatItIsStored() throws {
        let node = node(phones: 1)
        _ = node.submit(submission())
        #expect(store(node) == [.stored])
        node.pipeline.attemptEnded(
            try #require(node.send()), .kept, at: node.now, using: &node.random)
        #expect(told(node) == [])
    }

    @Test func phonesOfAnotherFormAreNotRung() {
        let node = node()
        #expect(node.submit(submission(platform: .ios)) == .answered(.refused(.badDeviceToken)))
        node.pipeline.use(book([(.android, Sample.token(1)), (.ios, Sample.iosToken)]))
        #expect(node.submit(submission()) == .answered(.refused(.badDeviceToken)))
    }

    @Test func anAliasThatIsNotInTheBookIsNoAddress() {
        let node = node()
        var unknown = submission()
        unknown.deviceToken = PhoneBook.alias(String(repeating: "x", count: 96))
        #expect(node.submit(unknown) == .answered(.refused(.badDeviceToken)))
        node.pipeline.use(PhoneBook())
        #expect(node.submit(submission()) == .answered(.refused(.badDeviceToken)))
        // Bisq 2 registers it for Android.
        #expect(PhoneBook.aliasLengths.contains(Self.alias.text.utf8.count))
        #expect(DeviceToken(opaque: Self.alias.text) == nil)
    }

    /// Whatever becomes of the phones, in whatever order: a sender hears `stored` at most once and before all else, one
    /// last word, delivered if a phone has it, and dead only if all are.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func aSenderHearsOneLastWord(seed: UInt64) {
        var random = SeededRandom(state: seed + 1)
        var senders = AliasSenders()
        var group = AliasSenders.Group(awaitsOutcome: true)
        let count = Int.random(in: 1...5, using: &random)
        for index in 0..<count { #expect(group.addUnanswered() == index) }
        let sender = ReplyID(index: 100)
        senders.add(group, of: sender, waitingFor: (0..<count).map { (ReplyID(index: $0), $0) })
        let ends: [Ending] = [
            .delivered, .refused(reason: .internal), .tokenDead(reason: .unregistered), .expired,
        ]
        var heard: [AliasSenders.News.Word] = []
        var told: [Receipt] = []
        func note(_ receipt: Receipt, _ phone: Int, isLast: Bool) {
            let news = senders.note(receipt, from: ReplyID(index: phone), isLast: isLast)
            #expect(news == nil || news?.sender == sender)
            heard += news?.words ?? []
            if isLast { told.append(receipt) }
        }
        // One commit answers for all; some of it are repetitions that ended long ago.
        var waiting: [Int] = []
        for phone in (0..<count).shuffled(using: &random) {
            if Int.random(in: 0..<4, using: &random) == 0 {
                note(.ended(ends.randomElement(using: &random)!), phone, isLast: true)
            } else {
                note(.stored, phone, isLast: false)
                waiting.append(phone)
            }
        }
        for phone in waiting where Bool.random(using: &random) {
            let isKept = Bool.random(using: &random)
            note(isKept ? .kept : .held(reason: "InvalidProviderToken"), phone, isLast: false)
        }
        for phone in waiting.shuffled(using: &random) {
            note(.ended(ends.randomElement(using: &random)!), phone, isLast: true)
        }
        let last = heard.filter { if case .receipt(_, let isLast) = $0 { isLast } else { true } }
        #expect(last.count == 1)
        #expect(heard.last == last.first)
        for once in [Receipt.stored, .kept] {
            #expect(heard.count { $0 == .receipt(once, isLast: false) } <= 1)
        }
        if let index = heard.firstIndex(of: .receipt(.stored, isLast: false)) { #expect(index == 0) }
        let isDelivered = told.contains(.ended(.delivered))
        #expect((heard.last == .receipt(.ended(.delivered), isLast: true)) == isDelivered)
        let areAllDead = told.allSatisfy { if case .ended(.tokenDead) = $0 { true } else { false } }
        if case .receipt(.ended(.tokenDead), _)? = heard.last {
            #expect(areAllDead)
        } else {
            #expect(!areAllDead)
        }
        #expect(senders.isEmpty)
    }

    // MARK: apps[].targets

    private func guarded() -> Validator {
        var validator = Validator(
            apps: [
                App(
                    name: "android", service: Sample.app("", [.android]).service, isEnabled: true,
                    targets: .phoneBook)
            ], defaultIOS: "", defaultAndroid: "android")
        validator.phoneBook = book([(.android, Sample.token(1))])
        return validator
    }

    @Test func anAppForThePhoneBookRingsNobodyElse() throws {
        let validator = guarded()
        #expect(throws: Reason.notInPhoneBook) {
            try validator.recipient(of: Sample.android(token: Sample.token(2)))
        }
        #expect(throws: Reason.notInPhoneBook) {
            try validator.recipient(of: Sample.android(token: DeviceToken.opaqueOfNobody.text))
        }
        _ = try validator.recipient(of: Sample.android(token: Sample.token(1)))
        // What has no form of an address is told so first.
        #expect(throws: Reason.badDeviceToken) { try validator.recipient(of: Sample.android(token: "short")) }
    }

    /// What only begins like an alias is not looked up.
    @Test func aStrangersAliasCostsWhatItsLengthSays() {
        var validator = Sample.validator
        validator.phoneBook = book([(.android, Sample.token(1))])
        let ratio = HostileText.ratio { text in
            #expect(throws: Reason.unknownApp) {
                let submission = Sample.android(token: PhoneBook.aliasPrefix + text)
                if try validator.copies(of: submission) == nil { _ = try validator.recipient(of: submission) }
            }
        }
        #expect(ratio < 20)
    }

    @Test func aNameHasItsBoundsAndItsLetters() {
        for name in ["a", "Alice.2-phones_x", String(repeating: "a", count: 64)] {
            #expect(PhoneBook.isName(name) && PhoneBook.isWord(name))
        }
        let family = "\u{1F469}\u{200D}\u{1F467}"
        for name in [
            "a b", "<b>", "Händy", "мой телефон", "电话", "a\u{301}", family, String(repeating: "é", count: 40),
        ] {
            #expect(PhoneBook.isName(name) && !PhoneBook.isWord(name), "\(name)")
        }
        let unseen: [String] = [
            "\n", "\t", "\u{0}", "\u{7f}", "\u{202e}", "\u{200b}", "\u{2028}", "\u{a0}", "\u{e000}",
            "\u{feff}",
        ]
        var wrong: [String] = ["", " ", " a", "a ", "a  b", "a\u{200d}"]
        wrong.append(String(repeating: "é", count: 41))
        wrong.append(String(repeating: "a", count: 65))
        for text in unseen { wrong.append("a\(text)b") }
        for name in wrong {
            #expect(!PhoneBook.isName(name) && !PhoneBook.isWord(name), "\(name)")
        }
    }
}
