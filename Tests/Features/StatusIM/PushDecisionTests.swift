import StatusIM
import Testing

@Suite struct PushDecisionTests {
    private static let registration = {
        var registration = Registration()
        registration.accessToken = "token"
        registration.blockedChats = [[1], [2]]
        registration.mutedChats = [[3]]
        registration.allowedMentionChats = [[3], [4], [1]]
        return registration
    }()

    private func decision(
        type: UInt64, chat: [UInt8] = [9], author: [UInt8] = [8], token: String = "token",
        _ change: (inout Registration) -> Void = { _ in }
    ) -> PushDecision {
        var registration = PushDecisionTests.registration
        change(&registration)
        var entry = PushEntry()
        entry.type = type
        entry.chatID = chat
        entry.author = author
        entry.accessToken = token
        return switch PushDecision(entry, registration) {
        // Which one it is sent to is not the question here.
        case .send: .send(Registration())
        case let answered: answered
        }
    }

    private let send = PushDecision.send(Registration())
    private let filtered = PushDecision.answered(.accepted)

    @Test func messagesOfBlockedAndMutedChatsAreFiltered() {
        #expect(decision(type: 1) == send)
        #expect(decision(type: 1, chat: [1]) == filtered)
        #expect(decision(type: 1, chat: [3]) == filtered)
        #expect(decision(type: 1, author: [2]) == filtered)
        #expect(decision(type: 1, author: [3]) == send, "an author is not looked for among muted chats")
    }

    @Test func mentionsAreSentFromJoinedChatsOnly() {
        #expect(decision(type: 2) == filtered)
        #expect(decision(type: 2, chat: [4]) == send)
        #expect(decision(type: 2, chat: [3]) == send, "muted chats stop messages, not mentions")
        #expect(decision(type: 2, chat: [1]) == send, "of a mention only the author can be blocked")
        #expect(decision(type: 2, chat: [4], author: [1]) == filtered)
        #expect(decision(type: 2, chat: [4]) { $0.blocksMentions = true } == filtered)
    }

    @Test func requestsToJoinAreFilteredByAuthorOnly() {
        #expect(decision(type: 3, chat: [1]) == send)
        #expect(decision(type: 3, author: [1]) == filtered)
        #expect(decision(type: 4, chat: [1], author: [1]) == send)
    }

    @Test func theTokenIsLookedAtBeforeTheFilters() {
        #expect(decision(type: 1, chat: [1], token: "tokem") == .answered(.wrongToken))
        #expect(decision(type: 1, token: "") == .answered(.wrongToken))
        #expect(decision(type: 1, token: "token2") == .answered(.wrongToken))
    }

    @Test func anEntryWithoutTypeIsPassedOverInSilence() {
        #expect(decision(type: 0, token: "wrong") == .answered(.noReport))
        #expect(PushDecision(PushEntry(), nil) == .answered(.noReport))
        var entry = PushEntry()
        entry.type = 1
        #expect(PushDecision(entry, nil) == .answered(.notRegistered))
    }

    @Test(arguments: [
        (UInt64(1), "You have a new message"), (2, "Someone mentioned you"),
        (3, "Someone requested to join a community you are an admin of"), (7, "Someone mentioned you"),
    ])
    func theTextsAreStatusGos(type: UInt64, text: String) {
        var entry = PushEntry()
        entry.type = type
        entry.chatID = [0, 0xaf]
        let content = PushContent(entry)
        #expect(content.text == text)
        #expect(content.data.map(\.name) == ["chatId", "encryptedMessage", "publicKey"])
        #expect(content.data.map(\.value) == ["0x00af", "0x", "0x"])
    }
}
