import Clocks

@testable import Relay

/// Lanes to origins: addresses name them, they come with the first notification and go when they are idle. There are more
/// origins than an app may have lanes.
extension World {
    static let origins = (0..<7).map { LaneID(app: "web", host: LaneHost("https://push\($0).example")) }
    static let originsPerApp = 4

    /// To whichever origin: with a token as long as all others, which ends with the device's number.
    func originSubmission() -> Submission {
        let origin = World.origins[draw(World.origins.count)].host.name
        let token = "wp1:\(origin)/"
        let life = [0, 2000, 30_000, 120_000][draw(4)]
        return Submission(
            uid: draw(5) == 0 ? nil : "uid\(nextUid)", platform: .android,
            deviceToken: token + String(repeating: "x", count: 63 - token.utf8.count) + String(draw(4)),
            message: fresh(), isUrgent: draw(4) == 0,
            expiresAt: life == 0 ? 0 : now.unix + .milliseconds(life))
    }

    /// Which lanes there are now.
    var lanesNow: [LaneID] {
        let origins = pipeline.lanes.filter {
            !$0.stage.isGone && !$0.stage.isParked && $0.id.host.isOrigin
        }
        return World.lanes + origins.map(\.id)
    }

    /// The core wants a gateway for a lane that has come to be; sometimes there is none yet.
    func open(_ place: Int) {
        let id = pipeline.lanes[place].id
        guard pipeline.lane(of: id) == place else { return }
        // One that gets its gateway later, or again, knows what it knew.
        if originAt[place] != id { books.opened(id) }
        guard id.host.isOrigin else { return }
        originAt[place] = id
        guard !pipeline.lanes[place].stage.isParked else { return }
        if !hasFaults || draw(10) > 0 { add(id) }
    }

    /// A lane goes: nothing may be lost with it, neither what waits nor a pause that was asked for.
    func close(_ place: Int) {
        // Another lane may have its place already.
        let id = originAt[place] ?? pipeline.lanes[place].id
        if pipeline.lane(of: id) == place {
            // It gives its gateway to another one, or gets one again, and keeps what it has.
            if attempts.contains(where: { $0.lane == id }) {
                fail("a lane gives way with requests under way")
            }
            if present.remove(id) != nil { parkings += 1 }
            return
        }
        originAt[place] = nil
        if !id.host.isOrigin { fail("\(id) goes, which is no origin's") }
        if attempts.contains(where: { $0.lane == id }) { fail("a lane goes with requests under way") }
        if books.waiting.values.contains(where: { $0.notification.lane == id }) {
            fail("a lane goes with notifications that wait")
        }
        if now.monotonic < books.wishes.paused[id] ?? .longAgo {
            fail("a lane goes in the pause that its host has asked for")
        }
        present.remove(id)
        closings += 1
        books.resumed(id)
    }

    func checkOrigins() {
        let count = pipeline.lanes.count { !$0.stage.isGone && !$0.stage.isParked && $0.id.host.isOrigin }
        if count > World.originsPerApp { fail("an app has \(count) origins") }
        for lane in pipeline.lanes where lane.shown.host.isOrigin { fail("an origin is named to readers") }
    }
}
