import ArgumentParser
import Client
import Crypto
import Encodings
import HTTP1
import JSONCoding
import Processes
import Reactor
import Terminal
import Wire

/// The forms of today's Bisq clients.
extension SendCommand {
    /// Sends by `GET /relay`. The notification is stored when the body is `success`, as Bisq 1 has it.
    func sendAsBisq1(_ sender: BisqSender) async throws {
        let request: HTTPRequest
        do {
            request = try sender.httpRequest(for: text)
        } catch {
            throw fail(error, status: 65)
        }
        let answer = try await answer(to: request)
        let body = plainText(String(decoding: answer.body, as: UTF8.self))
        printLine("\(answer.status) \(body)\(answer.retryAfterWords)")
        try exit(by: answer, isTaken: answer.status == 200 && answer.body == Array("success".utf8))
    }

    /// Sends by `POST /v1/...`: the answer is the gateway's if it came in time.
    func sendAsBisq2(_ token: PairingToken) async throws {
        let request: HTTPRequest
        do {
            let phone = try ConnectPhone(
                platform: token.platform, deviceToken: token.deviceToken, key: try keyBytes())
            let sealed = try phone.seal(
                ConnectMessage(
                    id: Hex.encode(randomBytes(16)), title: title, message: message, category: type.category,
                    tradeID: trade.isEmpty ? nil : trade))
            request = phone.request(for: sealed)
        } catch let error as CryptoError {
            throw fail(error, status: 65)
        }
        let answer = try await answer(to: request)
        let verdict = try? JSON(answer.body)
        let isTaken = answer.status == 200 && verdict?["wasAccepted"]?.bool == true
        let words = ["errorCode", "errorMessage"].compactMap { verdict?[$0]?.string.map(plainText) }
        printLine(
            "\(answer.status) \(([isTaken ? "accepted" : "refused"] + words).joined(separator: ": "))"
                + answer.retryAfterWords)
        try exit(by: answer, isTaken: isTaken)
    }

    private func keyBytes() throws -> [UInt8] {
        guard let bytes = Base64.decode(try SecretInput.key.text(key ?? "")),
            bytes.count == ConnectPhone.keyLength
        else {
            throw fail("--key must be \(ConnectPhone.keyLength) bytes in Base64", status: 65)
        }
        return bytes
    }

    private func answer(to request: HTTPRequest) async throws -> HTTPResponse {
        let (route, host) = try route()
        tellOfTheWait(route)
        do {
            return try await HTTPExchange.answer(
                to: request, host: host, by: route, deadline: timeout.duration)
        } catch {
            throw fail(error, status: error.mayBeTaken ? 3 : 69)
        }
    }

    private func exit(by answer: HTTPResponse, isTaken: Bool) throws {
        guard !isTaken else { return }
        throw ExitCode(answer.status == 429 || answer.status == 503 ? 75 : 1)
    }
}

extension HTTPResponse {
    fileprivate var retryAfterWords: String {
        fields["retry-after"].map { ", try again in \(plainText($0)) s" } ?? ""
    }
}

extension PhoneText.Kind {
    /// Bisq 2's word for this kind of message.
    fileprivate var category: ConnectMessage.Category {
        switch self {
        case .trade: .tradeUpdate
        case .offer: .offerUpdate
        case .dispute: .chatMessage
        case .setupConfirmation, .price, .market, .erase: .general
        }
    }
}
