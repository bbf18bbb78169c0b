import Crypto
import Doors
import Node
import Reactor

/// Tokens for widgets, kept over restarts.
extension NodeConsole {
    func addWidget(_ name: String) async throws(CallRefusal) -> String {
        try await change { tokens throws(CallRefusal) in
            do throws(WidgetTokens.Refusal) {
                return try tokens.add(name, secret: randomBytes(WidgetTokens.secretLength))
            } catch {
                throw error.refusal
            }
        }
    }

    func removeWidget(_ name: String) async throws(CallRefusal) {
        try await change { tokens throws(CallRefusal) in
            guard tokens.remove(name) else {
                throw CallRefusal(.absent, "unknown_name", "no token has this name")
            }
        }
    }

    /// Makes a change and writes it down. What is not written down is not so: a token that is revoked must not come back with a
    /// restart.
    private func change<Value: Sendable>(
        _ body: @escaping @EventLoop (inout WidgetTokens) throws(CallRefusal) -> Value
    ) async throws(CallRefusal) -> Value {
        try await widgetChanges.run { [self] in
            let before = widgets
            let result = Result { () throws(CallRefusal) in try body(&widgets) }
            guard case .success = result,
                let error = await PrivateFile.replace(widgetFile, with: WidgetTokenFile.text(widgets))
            else { return result }
            log.error("console.write_failed", metadata: ["reason": "\(error)"])
            widgets = before
            return .failure(CallRefusal(.unavailable, "store_failed", "\(error)"))
        }.get()
    }
}

extension WidgetTokens.Refusal {
    fileprivate var refusal: CallRefusal {
        switch self {
        case .unfitName:
            CallRefusal(.unfit, "bad_name", "a token's name has 1 to 64 letters, digits, - and _")
        case .nameIsTaken: CallRefusal(.conflict, "name_taken", "a token has this name already")
        case .tooMany:
            CallRefusal(.conflict, "too_many", "there are \(WidgetTokens.most) tokens, which is the most")
        }
    }
}
