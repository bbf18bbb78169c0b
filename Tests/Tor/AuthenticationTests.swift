import Foundation
import Lab
import Processes
import Reactor
import Testing

@testable import Tor

@Suite struct AuthenticationTests {
    @Test @EventLoop func aTorThatAsksForNothingLetsUsIn() async throws {
        let tor = try LoneTor([])
        let connection = try await tor.connect(ControlCredentials())
        #expect(try await connection.send(.getInfo(["version"]))["version"]?.hasPrefix("0.4.9") == true)
    }

    @Test @EventLoop func theCookieIsFoundWhereTorNamesIt() async throws {
        let tor = try LoneTor()
        _ = try await tor.connect(ControlCredentials())
        _ = try await tor.connect(ControlCredentials(cookieFile: "/nonexistent/cookie"))
    }

    @Test @EventLoop func thePasswordOpensWithAnyBytesInIt() async throws {
        let password = #"se same "x" \é"#
        let tor = try await LoneTor(passwordLines(password))
        let file = tor.directory.path + "/password"
        try (password + "\n").write(toFile: file, atomically: false, encoding: .utf8)
        _ = try await tor.connect(ControlCredentials(cookieFile: "/nonexistent", passwordFile: file))
    }

    @Test @EventLoop func aWrongPasswordIsToldAsSuch() async throws {
        let tor = try await LoneTor(passwordLines("sesame"))
        let file = tor.directory.path + "/password"
        try "open".write(toFile: file, atomically: false, encoding: .utf8)
        await #expect(throws: ControlError.refused(.authenticationRefused(.wrongPassword))) {
            try await tor.connect(ControlCredentials(passwordFile: file))
        }
        await #expect(throws: ControlError.noUsableMethod([.hashedPassword])) {
            try await tor.connect(ControlCredentials())
        }
    }

    @Test @EventLoop func aCookieOfAnotherTorIsNotGivenAwayAndThePasswordStillOpens() async throws {
        let tor = try await LoneTor(passwordLines("sesame") + LoneTor.cookieLines)
        _ = try await tor.connect()
        let wrong = tor.directory.path + "/wrong"
        try Data(count: 32).write(to: URL(filePath: wrong))
        try FileManager.default.removeItem(atPath: tor.cookieFile)
        await #expect(throws: ControlError.cookieMismatch) {
            try await ControlConnection.open(tor.control, credentials: .init(cookieFile: wrong))
        }
        let password = tor.directory.path + "/password"
        try "sesame".write(toFile: password, atomically: false, encoding: .utf8)
        _ = try await ControlConnection.open(
            tor.control, credentials: .init(cookieFile: wrong, passwordFile: password))
    }

    /// Tor listens before it has written its cookie.
    @Test @EventLoop func aMissingOrHalfWrittenCookieIsWorthAnotherTry() async throws {
        let tor = try LoneTor()
        _ = try await tor.connect()
        try Data(count: 31).write(to: URL(filePath: tor.cookieFile))
        await #expect(throws: ControlError.cookieMalformed(path: tor.cookieFile)) {
            try await ControlConnection.open(tor.control, credentials: tor.credentials)
        }
        #expect(ControlError.cookieMalformed(path: "").mayPassSoon)
        try FileManager.default.removeItem(atPath: tor.cookieFile)
        let missing = ControlError.cookieUnreadable(SystemError("open \(tor.cookieFile)", code: ENOENT))
        await #expect(throws: missing) {
            try await ControlConnection.open(tor.control, credentials: tor.credentials)
        }
        #expect(missing.mayPassSoon)
    }

    /// A server that asks for the plain cookie may be any program, and may name any file.
    @Test @EventLoop func onlyAFileThatTheOperatorNamedIsSentAsItIs() async throws {
        var proof: String?
        let directory = TemporaryDirectory()
        let named = directory.path + "/secret"
        try Data(repeating: 7, count: 32).write(to: URL(filePath: named))
        let tor = try FakeTor { line in
            if line.hasPrefix("PROTOCOLINFO") {
                return FakeTor.protocolInfo(methods: "COOKIE", cookieFile: named)
            }
            proof = line
            return "250 OK\r\n"
        }
        await #expect(throws: ControlError.noUsableMethod([.cookie])) {
            try await ControlConnection.open(tor.control, credentials: .init())
        }
        #expect(proof == nil)
        _ = try await ControlConnection.open(tor.control, credentials: .init(cookieFile: named))
        #expect(proof == "AUTHENTICATE " + String(repeating: "07", count: 32))
    }

    @Test @EventLoop func aTorThatIsTooOldIsRefusedByItsVersion() async throws {
        let tor = try FakeTor { _ in FakeTor.protocolInfo(version: "0.4.8.16") }
        await #expect(throws: ControlError.tooOld(TorVersion("0.4.8.16")!)) {
            try await ControlConnection.open(tor.control, credentials: .init())
        }
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.2p1\r\n", "220 mail ESMTP\r\n", "\u{0}\u{1}\r\n"])
    @EventLoop func anotherProgramOnThePortIsToldAsSuch(greeting: String) async throws {
        let other = try FakeTor(greeting: greeting) { _ in "500 what?\r\n" }
        let error = await #expect(throws: ControlError.self) {
            try await ControlConnection.open(other.control, credentials: .init())
        }
        guard case .notUnderstood = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test @EventLoop func nobodyOnThePortIsToldAsSuch() async throws {
        let error = await #expect(throws: ControlError.self) {
            try await ControlConnection.open(.unix(path: "/nonexistent/control"), credentials: .init())
        }
        #expect(
            error == .unreachable(.failed(SystemError("connect to unix:/nonexistent/control", code: ENOENT))))
    }

    @EventLoop private func passwordLines(_ password: String) async throws -> [String] {
        let hash = try await Tool(["tor", "--quiet", "--hash-password", password]).finish().last
        return ["HashedControlPassword \(try #require(hash))"]
    }
}
