import Testing

@testable import Tor

@Suite struct CircuitBookTests {
    private let id = String(repeating: "a", count: 56)
    private let other = String(repeating: "b", count: 56)
    private let third = String(repeating: "c", count: 56)

    private func taken(_ lines: [String]) -> CircuitBook {
        var book = CircuitBook()
        for line in lines { book.take(Array(line.utf8).span) }
        return book
    }

    private func line(
        _ number: Int, _ purpose: String, _ state: String, of id: String, _ status: String = "BUILT"
    ) -> String {
        "\(number) \(status) $0011~a,$0022~b BUILD_FLAGS=IS_INTERNAL,NEED_CAPACITY PURPOSE=\(purpose) "
            + "HS_STATE=\(state) REND_QUERY=\(id) TIME_CREATED=2026-11-21T22:00:00.0"
    }

    @Test func introductionPointsAndClientsAreThoseOfOneService() {
        let book = taken([
            "1 BUILT $0011~a BUILD_FLAGS=NEED_CAPACITY PURPOSE=GENERAL", "2 LAUNCHED PURPOSE=GENERAL",
            line(3, "HS_SERVICE_INTRO", "HSSI_CONNECTING", of: id),
            line(4, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: id),
            line(5, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: other),
            line(6, "HS_SERVICE_REND", "HSSR_CONNECTING", of: id, "EXTENDED"),
            line(7, "HS_SERVICE_REND", "HSSR_JOINED", of: id),
            line(8, "HS_CLIENT_REND", "HSCR_JOINED", of: id),
        ])
        #expect(book.introductionPoints(of: id) == 1 && book.introductionPoints(of: other) == 1)
        #expect(book.clients(of: id) == 1 && book.clients(of: other) == 0)
        #expect(book.circuits == 8)
        #expect(book.clients(of: nil) == 0 && book.introductionPoints(of: nil) == 0)
    }

    @Test func aClientsCircuitIsToldFromAllOthers() {
        let book = taken([
            "1 BUILT $0011~a PURPOSE=GENERAL", line(2, "HS_SERVICE_INTRO", "HSSI_ESTABLISHED", of: id),
            line(3, "HS_SERVICE_REND", "HSSR_JOINED", of: id),
            line(4, "HS_SERVICE_REND", "HSSR_JOINED", of: third),
            line(5, "HS_SERVICE_REND", "HSSR_CONNECTING", of: id, "LAUNCHED"),
            line(6, "HS_SERVICE_REND", "HSSR_JOINED", of: other),
        ])
        let ours = [id, other]
        #expect(book.clients { ours.contains($0) } == [3, 6])
        #expect(book.rendezvous { ours.contains($0) } == [3, 5, 6])
    }

    @Test func whatIsNoLineOfACircuitIsNone() {
        #expect(taken(["", ""]) == CircuitBook())
        #expect(taken(["9", "x BUILT"]).rendezvous { _ in true } == [])
    }
}
