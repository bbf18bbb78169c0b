import Crypto
import HTTP2
import Reactor
import Relay
import TLS

extension FCMSettings {
    /// Sends a message with `validate_only`, which delivers nothing whatever the token is.
    @EventLoop
    func probe() async throws(GatewaySetupError) -> GatewayProbe.Finding {
        let context = try trust.context()
        let authorization: Secret
        switch try await self.authorization(context) {
        case .success(let value): authorization = value
        case .failure(let finding): return finding.value
        }
        var head = HTTP2Headers(
            method: "POST", authority: baseURL.authority, path: FCMGateway.path(at: baseURL, of: account))
        head.add("authorization", authorization.bytes.span, .never)
        head.add("content-type", "application/json")
        let service = FCMService(withNotification: withNotification)
        let message = FCMMessage.body(
            GatewayProbe.notification(to: service.nobody(on: .android)), withNotification: withNotification,
            now: EventLoop.unixTime)
        let body = Array(#"{"validate_only":true,"#.utf8) + message.dropFirst()
        return switch await GatewayProbe.exchange(baseURL, by: egress, context, .http1, head, body) {
        case .success(let answer): .init(FCMAnswer.verdict(answer))
        case .failure(let failure): .init(failure)
        }
    }

    /// The finding of an attempt that brought no token.
    private struct NoToken: Error {
        let value: GatewayProbe.Finding
    }

    @EventLoop
    private func authorization(
        _ context: TLSContext
    ) async throws(GatewaySetupError) -> Result<Secret, NoToken> {
        let url = try whereTokensAre()
        let assertion: Secret
        do {
            assertion = try account.assertion(now: EventLoop.unixMilliseconds / 1000)
        } catch {
            throw .credentials(error)
        }
        var head = HTTP2Headers(method: "POST", authority: url.authority, path: url.path)
        head.add("content-type", OAuthExchange.contentType)
        switch await GatewayProbe.exchange(
            url, by: egress, context, .http1, head, OAuthExchange.body(assertion: assertion))
        {
        case .failure(let failure): return .failure(NoToken(value: .init(failure)))
        case .success(let answer):
            return switch OAuthExchange.read(answer) {
            case .token(let authorization, _): .success(authorization)
            case .refused(let reason): .failure(NoToken(value: .refused(reason: reason)))
            case .failed(let reason, _): .failure(NoToken(value: .unclear(reason: reason)))
            }
        }
    }
}
