import Testing

@testable import Tor

@Suite struct CircuitBookTests {
    private let id = String(repeating: "a", count: 56)

    private func taken(_ lines: [String]) -> (book: CircuitBook, clients: [Bool]) {
        var book = CircuitBook()
        let clients = lines.compactMap { CircuitEvent($0) }.map { book.take($0, of: id) }
        return (book, clients)
    }

    private func built(_ number: Int, _ words: String = "PURPOSE=GENERAL") -> String {
        "CIRC \(number) BUILT $0011~a,$0022~b BUILD_FLAGS=IS_INTERNAL,NEED_CAPACITY \(words) TIME_CREATED=2026-11-21T22:00:00.0"
    }

    private func changed(_ number: Int, _ purpose: String, _ state: String, of id: String) -> String {
        "CIRC_MINOR \(number) PURPOSE_CHANGED $0011~a BUILD_FLAGS=IS_INTERNAL PURPOSE=\(purpose) HS_STATE=\(state) "
            + "REND_QUERY=\(id) TIME_CREATED=2026-11-21T22:00:00.0 OLD_PURPOSE=\(purpose) OLD_HS_STATE=HSSI_CONNECTING"
    }

    @Test func onlyWhatStandsIsCounted() {
        let (book, _) = taken([
            "CIRC 1 LAUNCHED BUILD_FLAGS=NEED_CAPACITY PURPOSE=GENERAL",
            "CIRC 1 EXTENDED $0011~a PURPOSE=GENERAL",
            "CIRC 2 LAUNCHED", built(3), built(4), "CIRC 4 CLOSED $0011~a PURPOSE=GENERAL REASON=FINISHED",
            "CIRC 5 FAILED PURPOSE=GENERAL REASON=TIMEOUT", "CIRC 3 BUILT",
        ])
        #expect(book.circuits == 1)
    }

    @Test func introductionPointsAndClientsAreThoseOfOurService() {
        let other = String(repeating: "b", count: 56)
        let (book, clients) = taken([
            built(1, "PURPOSE=HS_SERVICE_INTRO HS_STATE=HSSI_CONNECTING REND_QUERY=\(id)"),
            changed(1, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: id),
            changed(2, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: id),
            changed(3, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: other),
            built(4, "PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_CONNECTING REND_QUERY=\(id)"),
            changed(4, "HS_SERVICE_REND", "HSSR_JOINED", of: id),
            changed(4, "HS_SERVICE_REND", "HSSR_JOINED", of: id),
            changed(5, "HS_CLIENT_REND", "HSCR_JOINED", of: id),
            "CIRC 2 CLOSED REASON=DESTROYED",
        ])
        #expect(book.introductionPoints == 1)
        #expect(book.clients == 1)
        #expect(book.circuits == 4)
        #expect(clients == [false, false, false, false, false, true, false, false, false])
    }

    @Test func aClientsCircuitIsToldFromAllOthers() {
        let (book, _) = taken([
            built(1), changed(2, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: id),
            changed(3, "HS_SERVICE_REND", "HSSR_JOINED", of: id),
            changed(4, "HS_SERVICE_REND", "HSSR_JOINED", of: String(repeating: "b", count: 56)),
            "CIRC 5 LAUNCHED BUILD_FLAGS=IS_INTERNAL PURPOSE=HS_SERVICE_REND HS_STATE=HSSR_CONNECTING REND_QUERY=\(id)",
            changed(6, "HS_SERVICE_REND", "HSSR_JOINED", of: id), "CIRC 6 CLOSED REASON=FINISHED",
        ])
        #expect((0...6).filter { book.isClient($0) } == [3])
        #expect(Set(book.rendezvous) == [3, 5])
    }

    @Test func anEndOfACircuitThatWasNeverSeenIsNothing() {
        let (book, _) = taken(["CIRC 9 CLOSED", "CIRC 9 CLOSED", "CIRC_MINOR 9", "CIRC", ""])
        #expect(book == CircuitBook())
    }
}
