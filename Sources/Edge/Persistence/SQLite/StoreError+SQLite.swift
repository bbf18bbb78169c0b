import CSQLite

extension StoreError {
    /// Makes an error of SQLite's.
    ///
    /// - Parameters:
    ///   - code: SQLite's extended result code.
    ///   - kind: `nil`: as the code says.
    package init(code: Int32, operation: Operation, message: String, _ kind: Kind? = nil) {
        let kind = kind ?? Kind(code, operation)
        self.init(
            kind, operation, message, code: code,
            description: kind == .refused
                ? "outbox: \(message)"
                : "outbox: \(operation.rawValue): \(message) (SQLite code \(code))")
    }

    /// Returns the error with what to do when the file is damaged, and which file it is.
    package func explained(path: String) -> StoreError {
        switch kind {
        case .refused: StoreError(refused: "\(path): \(message)")
        case .full where code != nil:
            StoreError(refused: "\(path): the disk is full or takes nothing: make room on it, then try again")
        case .damaged:
            StoreError(
                code: code ?? SQLITE_CORRUPT, operation: operation,
                message: "\(path) is damaged (\(message)). \(StoreAdvice.damaged(path))")
        case .full, .connectionLost, .collision, .locked, .taken, .setBack, .closed, .other: self
        }
    }
}

extension StoreError.Kind {
    fileprivate init(_ code: Int32, _ operation: StoreError.Operation) {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged
        case SQLITE_FULL: self = .full
        case SQLITE_IOERR where code == ioErrorWrite: self = .full
        case SQLITE_ERROR where code == SQLITE_ERROR && operation == .open: self = .refused
        case _: self = .other
        }
    }

    /// The number that people see with a failure of this kind that no engine has reported: that of SQLite's nearest one.
    var customaryCode: Int32 {
        switch self {
        case .damaged: SQLITE_CORRUPT
        case .closed: SQLITE_MISUSE
        case .full: SQLITE_FULL
        case .refused, .connectionLost, .collision, .locked, .taken, .setBack, .other: SQLITE_ERROR
        }
    }
}

/// `SQLITE_IOERR_WRITE`, a macro with operators that Swift doesn't import.
private let ioErrorWrite = SQLITE_IOERR | (3 << 8)
