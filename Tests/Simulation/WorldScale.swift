import Vectors

@testable import Relay

/// How large a world is.
struct WorldScale {
    var limits = Admission.Limits()
    var window = Window()
    var bodyBudget = 2000
    var requestsAtOnce = 5
    var stepsPerHistory = 20_000
    var policy = RetryPolicy()
    var writeBehind = World.writeBehind
    var memory = World.memory

    /// Seven phones for each lane: all that may happen to one happens to each.
    static let few: WorldScale = {
        var scale = WorldScale()
        scale.limits.tokenRate = 20
        scale.limits.waitingPerToken = 30
        scale.limits.waiting = 400
        scale.limits.waitingBytes = 40_000
        scale.limits.storingBytes = 1500
        scale.window.perLane = 12
        scale.window.total = 24
        scale.window.least = 4
        scale.window.claim = 6
        return scale
    }()

    /// Thousands, each with a fate of its own, in small steps of time: see ``World/crowdStep()``.
    static let crowd: WorldScale = {
        var scale = WorldScale()
        scale.limits.waiting = 2000
        scale.limits.waitingBytes = 2000 * 104
        scale.window.perLane = 400
        scale.window.total = 900
        scale.window.least = 40
        scale.window.claim = 100
        scale.bodyBudget = 40_000
        scale.requestsAtOnce = 20
        scale.stepsPerHistory = 9000
        return scale
    }()

    /// The few for several nodes: what fails is tried again before long, so that bounds hold for all that waits.
    static let cluster: WorldScale = {
        var scale = few
        scale.policy.longest = .seconds(4)
        scale.writeBehind = .zero
        // Longer than clocks differ.
        scale.memory = Pipeline.Memory()
        return scale
    }()

    /// - Parameter isShared: Other nodes can come to the outbox.
    func pipeline(isShared: Bool = false) -> Pipeline {
        let web = SampleService("web_push", for: [.android], prefix: "wp1:")
        let apps = [("ios", SampleService.ios), ("android", .android), ("web", web)].map { name, service in
            App(name: name, service: service, isEnabled: true)
        }
        var pipeline = Pipeline(
            validator: Validator(apps: apps, defaultIOS: "ios", defaultAndroid: "android"), limits: limits,
            policy: policy, memory: memory, bodyBudget: bodyBudget,
            originsPerApp: World.originsPerApp, window: window, writeBehind: writeBehind, isShared: isShared)
        pipeline.use(World.phoneBook)
        return pipeline
    }
}
