import Vectors

@testable import Relay

/// How large a world is.
struct WorldScale {
    var limits = Admission.Limits()
    var window = Window()
    var bodyBudget = 2000
    var requestsAtOnce = 5
    var stepsPerHistory = 20_000

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

    func pipeline() -> Pipeline {
        let web = SampleService("web_push", for: [.android], prefix: "wp1:")
        let apps = [("ios", SampleService.ios), ("android", .android), ("web", web)].map { name, service in
            App(name: name, service: service, isEnabled: true)
        }
        var pipeline = Pipeline(
            validator: Validator(apps: apps, defaultIOS: "ios", defaultAndroid: "android"), limits: limits,
            memory: World.memory, bodyBudget: bodyBudget, originsPerApp: World.originsPerApp,
            window: window, writeBehind: World.writeBehind)
        pipeline.use(World.phoneBook)
        return pipeline
    }
}
