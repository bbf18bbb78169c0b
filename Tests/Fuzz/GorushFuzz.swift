// Any body posted to gorush's door, up to what Apple and Google would get. Built with the sources of the door's forms
// by Deploy/tools/fuzz.
@testable import JSONCoding

func fuzzGorush(_ body: [UInt8]) {
    guard let request = try? GorushRequest(body, limit: 100) else { return }
    precondition((1...100).contains(request.notifications.count))
    var answer = GorushAnswer(hidesTokens: true)
    for notification in request.notifications {
        answer.count += notification.count
        _ = apps.app(topic: notification.topic)
        answer.add(
            GorushAnswer.Push(notification, to: notification.tokens.first ?? ""), error: notification.topic)
        if let push = try? GorushApplePush(notification) { check(push) }
        if let push = try? GorushGooglePush(notification) { check(push) }
    }
    precondition(answer.response.body.count <= GorushAnswer.longestLogs + 100)
    guard !isCostOnly else { return }
    precondition((try? JSON(answer.response.body, maximumDepth: 40)) != nil, "the answer is no JSON")
}

private let apps: PushApps = {
    var apps = PushApps()
    apps.ios = [PushApps.Apple(name: "a", topic: "b")]
    return apps
}()

private func check(_ push: GorushApplePush) {
    guard !isCostOnly else { return }
    let body = try? JSON(Array(push.body.utf8), maximumDepth: 40)
    precondition(body?["aps"]?.object != nil, "Apple gets no JSON")
    for field in push.fields {
        precondition(field.value.utf8.allSatisfy { (0x21..<0x7F).contains($0) } && !field.value.isEmpty)
    }
}

private func check(_ push: GorushGooglePush) {
    precondition(!push.targets.isEmpty)
    for target in push.targets {
        let body = push.body(for: target)
        guard !isCostOnly else { return }
        let message = (try? JSON(Array(body.utf8), maximumDepth: 40))?["message"]
        precondition(message != nil, "Google gets no JSON")
        precondition(
            ["token", "topic", "condition"].count { message?[$0] != nil } == 1, "not one target")
        for value in (message?["data"]?.object ?? [:]).values { precondition(value.string != nil) }
    }
}
