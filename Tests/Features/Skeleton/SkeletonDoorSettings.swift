/// What an operator can set of the skeleton's door. `listen` and the limits are every door's: `Settings.Door` has them.
package struct SkeletonDoorSettings: Sendable {
    /// The configured app that it pushes to; empty: the default for Android.
    package var app = ""
    /// How long a POST waits for the push service's verdict.
    package var outcomeDeadline: Duration = .seconds(2)
}
