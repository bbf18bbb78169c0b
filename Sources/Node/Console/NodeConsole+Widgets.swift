import Crypto
import Doors
import Reactor

/// Tokens for widgets, kept over restarts.
extension NodeConsole {
    func addWidget(_ name: String) async throws(CallRefusal) -> String {
        var changed = widgets
        let text: String
        do throws(WidgetTokens.Refusal) {
            text = try changed.add(name, secret: randomBytes(WidgetTokens.secretLength))
        } catch {
            throw error.refusal
        }
        try await keep(changed)
        return text
    }

    func removeWidget(_ name: String) async throws(CallRefusal) {
        var changed = widgets
        guard changed.remove(name) else {
            throw CallRefusal(.absent, "unknown_name", "no token has this name")
        }
        try await keep(changed)
    }

    /// Writes a change down. What is not written down is not so: a token that is revoked must not come back with a restart.
    private func keep(_ changed: WidgetTokens) async throws(CallRefusal) {
        let before = widgets
        widgets = changed
        guard let error = await PrivateFile.replace(widgetFile, with: WidgetTokenFile.text(changed))
        else { return }
        log.error("console.write_failed", metadata: ["reason": "\(error)"])
        if widgets == changed { widgets = before }
        throw CallRefusal(.unavailable, "store_failed", "\(error)")
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
