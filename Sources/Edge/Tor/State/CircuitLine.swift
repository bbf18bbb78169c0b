import Encodings

/// A circuit of an onion service, as a line of `GETINFO circuit-status` tells it.
struct CircuitLine: Equatable, Sendable {
    /// Tor's number for the circuit.
    var id: UInt32
    /// The use of the circuit by its service; no circuit for another purpose is a value.
    var use: CircuitBook.Use
    /// The onion service that the circuit belongs to.
    var serviceID: String

    /// Reads a line: the circuit's number, its status, its path and words with a key.
    ///
    /// There are as many lines as circuits, each of some hundred bytes, and most of no interest. So they are read as bytes, and
    /// no text is made before it is known to be needed.
    ///
    /// `nil` for a circuit that is not to meet a client, and is no introduction point. Also for a number that is not tor's: no
    /// such circuit could be closed.
    init?(_ line: Span<UInt8>) {
        let number = line.field(from: 0)
        guard let id = line.extracting(number).circuitNumber else { return nil }
        let words = CircuitWords(line, after: line.field(after: number))
        guard let use = words.use(in: line) else { return nil }
        self.id = id
        self.use = use
        serviceID = String(decoding: Array(line, in: words.serviceID), as: UTF8.self)
    }
}

/// The places of a line's words about the use of a circuit. Of several with one key the last counts.
private struct CircuitWords {
    var purpose = 0..<0
    var state = 0..<0
    var serviceID = 0..<0

    init(_ line: Span<UInt8>, after status: Range<Int>) {
        var field = status
        while field.upperBound < line.count {
            field = line.field(after: field)
            guard let first = line.extracting(field).first else { continue }
            // Most words begin with other letters.
            switch first {
            case UInt8(ascii: "P"): purpose = line.value(of: "PURPOSE=", in: field) ?? purpose
            case UInt8(ascii: "H"): state = line.value(of: "HS_STATE=", in: field) ?? state
            case UInt8(ascii: "R"): serviceID = line.value(of: "REND_QUERY=", in: field) ?? serviceID
            default: break
            }
        }
    }

    func use(in line: Span<UInt8>) -> CircuitBook.Use? {
        let purpose = line.extracting(purpose)
        let state = line.extracting(state)
        if purpose.spells("HS_SERVICE_REND") { return state.spells("HSSR_JOINED") ? .client : .coming }
        return purpose.spells("HS_SERVICE_INTRO") && state.spells("HSSI_ESTABLISHED")
            ? .introductionPoint : nil
    }
}

extension Span<UInt8> {
    fileprivate var first: UInt8? { isEmpty ? nil : self[0] }

    fileprivate func spells(_ text: String) -> Bool { hasSameBytes(as: text) }

    /// Returns the field up to the next space, or to the end. What is quoted is part of its field, whatever
    /// it holds: a program of this machine chooses the text of `SOCKS_USERNAME="…"`, and its words are none
    /// of the line's.
    fileprivate func field(from start: Int) -> Range<Int> {
        var place = start
        var isQuoted = false
        while place < count {
            switch self[place] {
            case UInt8(ascii: " ") where !isQuoted: return start..<place
            case UInt8(ascii: "\"") where isQuoted || place == start || self[place - 1] == UInt8(ascii: "="):
                isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: place += 1
            default: break
            }
            place += 1
        }
        return start..<count
    }

    /// Returns the next field: one space lies between two. The result begins beyond the end where there is
    /// none.
    fileprivate func field(after field: Range<Int>) -> Range<Int> {
        let start = field.upperBound + 1
        return start <= count ? self.field(from: start) : start..<start
    }

    /// Returns the range behind a field's key and `=`.
    fileprivate func value(of key: String, in field: Range<Int>) -> Range<Int>? {
        guard extracting(field).starts(with: key) else { return nil }
        return field.lowerBound + key.utf8.count..<field.upperBound
    }

    /// The number of a circuit as tor writes it: of 32 bits, in decimal, without leading zeros.
    fileprivate var circuitNumber: UInt32? {
        guard (1...10).contains(count), count == 1 || self[0] != UInt8(ascii: "0") else { return nil }
        var number: UInt64 = 0
        for index in indices {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[index]) else { return nil }
            number = number * 10 + UInt64(self[index] - UInt8(ascii: "0"))
        }
        return UInt32(exactly: number)
    }
}

extension [UInt8] {
    fileprivate init(_ bytes: Span<UInt8>, in range: Range<Int>) {
        self.init()
        reserveCapacity(range.count)
        for index in range { append(bytes[index]) }
    }
}
