import Reactor
import Relay

/// The node's own acts when somebody whom it watches falls silent.
extension NodeStore {
    func ring(_ news: Vigil.News, _ watch: Settings.Watch) {
        let (title, words): (String, String)
        switch news {
        case .silent(let since):
            log.warning("watchman.silent", metadata: ["watch": "\(watch.name)"])
            title = "\(watch.name) is silent"
            words =
                since.flatMap { UTCTime.text($0.milliseconds) }.map { "No answer since \($0)." }
                ?? "It has not answered yet."
        case .back(let time):
            log.notice("watchman.back", metadata: ["watch": "\(watch.name)"])
            title = "\(watch.name) is back"
            words = "It answers again, after \(time.milliseconds / 60_000) minutes."
        }
        let phones = phoneBook.value.phones(of: watch.ring)
        if phones.isEmpty { log.error("watchman.nobody_to_ring", metadata: ["watch": "\(watch.name)"]) }
        let text = Notice.text(title: title, message: words, at: EventLoop.unixTime)
        for phone in phones {
            var submission = Submission(
                platform: phone.platform, app: phone.app, deviceToken: phone.deviceToken.text, message: text,
                isUrgent: true, hasSound: true, isMutableContent: true, isContentAvailable: true)
            submission.isNotice = true
            dispatcher.submit(submission, from: dispatcher.door("watchman"), awaitsOutcome: false) { _ in }
        }
    }
}
