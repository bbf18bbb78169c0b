import Node

/// A feature that an owner manages by calls of `/api/v1`.
package protocol FeatureWithCalls: Feature {
    /// The calls, as the document has them.
    nonisolated static var calls: [NodeCalls.Call] { get }
}
