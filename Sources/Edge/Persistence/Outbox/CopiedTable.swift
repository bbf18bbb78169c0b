import Encodings
import Relay

/// A table that ``StoreCopy`` copies: all of a store but what triggers make of it.
struct CopiedTable {
    enum Kind {
        case integer, text, bytes
        /// Sealed where strangers could read it, and as it is elsewhere.
        case sealedText(String)
        case sealedBytes(String)
    }

    enum Value {
        case null, integer(Int64), text(String), bytes([UInt8])
        case sealedText(String, context: String, Sealed.Owner)
        case sealedBytes([UInt8], context: String, Sealed.Owner)

        /// Less than all keys.
        static func start(of kind: Kind) -> Value {
            switch kind {
            case .integer: .integer(0)
            case .text: .text("")
            case .bytes, .sealedText, .sealedBytes: .bytes([])
            }
        }

        func bind(_ index: Int32, to statement: borrowing Statement) throws(StoreError) {
            switch self {
            case .null: try statement.bind(index, bytes: nil)
            case .integer(let value): try statement.bind(index, value)
            case .text(let value): try statement.bind(index, value)
            case .bytes(let value): try statement.bind(index, bytes: value)
            case .sealedText(let value, let context, let owner):
                try statement.bind(index, sealed: value, as: context, of: owner)
            case .sealedBytes(let value, let context, let owner):
                try statement.bind(index, sealed: value, as: context, of: owner)
            }
        }
    }

    struct Column {
        let name: String
        let kind: Kind

        init(_ name: String, _ kind: Kind = .integer) {
            self.name = name
            self.kind = kind
        }

        /// - Parameter owner: The row that it is sealed for.
        func value(
            _ index: Int32, of row: borrowing Statement, _ owner: Sealed.Owner
        ) throws(StoreError) -> Value {
            guard !row.isNull(index) else { return .null }
            switch kind {
            case .integer: return .integer(row.integer(index))
            case .text: return .text(row.text(index))
            case .bytes: return .bytes(row.bytes(index))
            case .sealedText(let context):
                return .sealedText(
                    try row.sealedText(index, as: context, of: owner), context: context, owner)
            case .sealedBytes(let context):
                return .sealedBytes(
                    try row.sealedBytes(index, as: context, of: owner), context: context, owner)
            }
        }
    }

    let name: String
    /// The first one is the key where there is one.
    let columns: [Column]
    /// `nil`: copied in one piece.
    let key: String?
    let counter: RowCounter?
    /// Whose it is; `nil`: the outbox's.
    let door: (any DoorTables.Type)?

    private init(
        _ name: String, _ columns: [Column], hasKey: Bool = true, counter: RowCounter? = nil,
        of door: (any DoorTables.Type)? = nil
    ) {
        self.name = name
        self.columns = columns
        key = hasKey ? columns[0].name : nil
        self.counter = counter
        self.door = door
    }

    /// Its texts are sealed for their mailbox.
    var isOfMessages: Bool { name == "mailbox_message" || name == "mailbox_delayed" }

    /// The row that a text in such a column is sealed for.
    ///
    /// - Parameters:
    ///   - row: Has all columns, in their order.
    ///   - mailboxes: Their addresses by number.
    func owner(
        of column: Column, in row: borrowing Statement, mailboxes: [Int64: Digest]
    ) -> Sealed.Owner {
        switch name {
        case "notification", "backlog":
            return .waiting(sequence: row.integer(0), id: row.pair(1), token: Digest(row.pair(6)))
        case "status_registration":
            return .status(installation: Digest(row.pair(1)), owner: Digest(row.pair(2)))
        case "bitwarden_device": return .bitwarden(device: Digest(row.pair(1)))
        case "phone": return .phone(name: row.text(1))
        case "phone_alias": return .alias(name: row.text(0))
        case _ where isOfMessages:
            let address = mailboxes[row.integer(1)] ?? Digest(high: 0, low: 0)
            return column.name == "text"
                ? .message(id: row.text(2), mailbox: address) : .mailboxReplaces(address)
        case _: return .all
        }
    }

    static func taken(_ what: String) -> StoreError {
        StoreError(refused: "\(what): a store is only copied to where there is none. Move it away first")
    }

    // MARK: All of them

    private static let waiting: [Column] = [
        Column("sequence"), Column("id", .bytes), Column("app", .text), Column("flags"),
        Column("token", .sealedText(Sealed.token)), Column("message", .sealedText(Sealed.message)),
        Column("token_digest", .bytes), Column("accepted_at"), Column("expires_at"), Column("attempts"),
        Column("not_before"), Column("collapse_id", .sealedText(Sealed.collapse)),
        Column("android", .sealedText(Sealed.fields)), Column("host", .text),
    ]

    /// All tables, each behind those that it refers to.
    static var all: [CopiedTable] { outbox + installations + status + bitwarden + phones + mailboxes }

    private static var outbox: [CopiedTable] {
        [
            CopiedTable("notification", waiting), CopiedTable("backlog", waiting + [Column("rank")]),
            CopiedTable(
                "identity",
                [
                    Column("sequence"), Column("digest", .bytes), Column("content", .bytes),
                    Column("accepted_at"), Column("ending"), Column("reason", .text), Column("detail", .text),
                ]),
            CopiedTable("dead_token", [Column("digest", .bytes), Column("since"), Column("buried_at")]),
            CopiedTable(
                "wish",
                [
                    Column("digest", .bytes), Column("app", .text), Column("host", .text), Column("since"),
                    Column("until"),
                ]),
            CopiedTable(
                "lane_state",
                [
                    Column("app", .text), Column("host", .text), Column("written_at"), Column("paused_at"),
                    Column("paused_until"), Column("asked_until"), Column("failures"),
                    Column("blocked_reason", .text), Column("blocked_since"),
                ], hasKey: false),
            CopiedTable("clock", [Column("id"), Column("trusted"), Column("set_at")]),
        ]
    }

    private static var installations: [CopiedTable] {
        [
            CopiedTable(
                "installation",
                [Column("id", .text), Column("key_digest", .bytes), Column("enabled"), Column("added_at")],
                of: InstallationTables.self)
        ]
    }

    private static var status: [CopiedTable] {
        [
            CopiedTable(
                "status_registration",
                [
                    Column("number"), Column("installation", .bytes), Column("owner", .bytes),
                    Column("version"),
                    Column("changed_at"), Column("registration", .sealedBytes(Sealed.registration)),
                    Column("used_at"),
                ], counter: .highest, of: StatusTables.self),
            CopiedTable(
                "status_message",
                [
                    Column("number"), Column("digest", .bytes), Column("handled_at"),
                    Column("results", .bytes),
                ],
                counter: .highest, of: StatusTables.self),
        ]
    }

    private static var bitwarden: [CopiedTable] {
        [
            CopiedTable(
                "bitwarden_device",
                [
                    Column("number"), Column("device", .bytes), Column("installation", .text),
                    Column("\"user\"", .bytes), Column("identifier", .bytes), Column("type"),
                    Column("token", .sealedText(Sealed.token)), Column("registered_at"),
                ], counter: .highest, of: BitwardenTables.self),
            CopiedTable(
                "bitwarden_member", [Column("organization", .bytes), Column("device", .bytes)], hasKey: false,
                of: BitwardenTables.self),
        ]
    }

    private static var phones: [CopiedTable] {
        [
            CopiedTable(
                "phone",
                [
                    Column("number"), Column("name", .text), Column("platform", .text), Column("app", .text),
                    Column("token", .sealedText(Sealed.token)), Column("model", .text), Column("added_at"),
                ], counter: .kept, of: PhoneBookTables.self),
            CopiedTable(
                "phone_alias", [Column("name", .text), Column("address", .sealedText(Sealed.address))],
                of: PhoneBookTables.self),
        ]
    }

    private static var mailboxes: [CopiedTable] {
        [
            CopiedTable(
                "mailbox",
                [
                    Column("number"), Column("name", .text), Column("address", .bytes),
                    Column("topic", .bytes),
                    Column("show", .text), Column("is_open"), Column("is_push"), Column("added_at"),
                ], counter: .kept, of: MailboxTables.self),
            CopiedTable(
                "mailbox_reader",
                [
                    Column("number"), Column("mailbox"), Column("name", .text), Column("token", .bytes),
                    Column("acknowledged"),
                ], counter: .kept, of: MailboxTables.self),
            CopiedTable(
                "mailbox_message",
                [
                    Column("number"), Column("mailbox"), Column("id", .text), Column("accepted_at"),
                    Column("expires_at"), Column("is_urgent"), Column("size"),
                    Column("text", .sealedText(Sealed.message)), Column("sequence"),
                    Column("replaces", .sealedText(Sealed.collapse)),
                ], counter: .kept, of: MailboxTables.self),
            // End to end encrypted already.
            CopiedTable(
                "mailbox_reply",
                [
                    Column("number"), Column("mailbox"), Column("channel", .bytes), Column("digest", .bytes),
                    Column("accepted_at"), Column("sealed", .bytes),
                ], counter: .kept, of: MailboxTables.self),
            CopiedTable("mailbox_gone", [Column("sequence")], of: MailboxTables.self),
            CopiedTable(
                "mailbox_publisher",
                [
                    Column("number"), Column("mailbox"), Column("name", .text), Column("token", .bytes),
                    Column("added_at"),
                ], counter: .kept, of: MailboxTables.self),
            CopiedTable(
                "mailbox_delayed",
                [
                    Column("number"), Column("mailbox"), Column("id", .text), Column("due_at"),
                    Column("expires_at"), Column("is_urgent"), Column("size"),
                    Column("text", .sealedText(Sealed.message)),
                    Column("replaces", .sealedText(Sealed.collapse)), Column("publisher", .bytes),
                ], counter: .kept, of: MailboxTables.self),
        ]
    }
}
