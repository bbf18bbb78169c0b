import Figures
import Reactor
import Relay

/// One lane to a push service: one app's credentials and one host.
///
/// Conformers live on the event loop. They know nothing of doors, and they retry nothing but what the service surely
/// never handled: retrying is the delivery's decision.
@EventLoop
package protocol Gateway: AnyObject {
    /// Takes notifications from now on. A connection is made when there is something to send.
    func start()

    /// Sees whether the service can be reached, and whether it takes the credentials, as far as that shows with nothing sent. A
    /// gateway whose service need not know of a node that sends nothing does nothing.
    ///
    /// - Parameter end: Called once, when that is known.
    func look(then end: @escaping @EventLoop () -> Void)

    /// Takes nothing more; requests on their way may still end. Connections close when they have.
    func stop()

    /// How many more notifications ``send(_:completion:)`` takes now; 0 while there is no connection or it is full.
    var capacity: Int { get }

    /// Called when more waits than ``capacity`` lets through: a gateway that can may open another connection.
    func noteBacklog()

    /// The fault that the operator must mend before anything can be delivered, in the service's word; `nil` when nothing is
    /// known to be wrong. What is sent meanwhile without ``capacity`` comes back blocked for this reason.
    var fault: String? { get }

    /// Called when ``capacity`` rose from 0, and when ``fault`` appeared.
    var onCapacity: (@EventLoop () -> Void)? { get set }

    /// Called when there may be room on a way for which it has put notifications off (``Relay/Deferral/way``), with the way's
    /// number and its room. Returns whether more than that wait for the way. A gateway that puts nothing off so needs none.
    var onWay: (@EventLoop (_ way: Int, _ room: Int) -> Bool)? { get set }

    /// Called when what the gateway has put off for one of its ways may go by another one now: what was asked for on the
    /// first way does not count there.
    var onOtherWay: (@EventLoop () -> Void)? { get set }

    /// Sends one notification. `completion` is called exactly once, after `send` has returned, with what became of it.
    func send(_ notification: Notification, completion: @escaping @EventLoop (Outcome) -> Void)

    /// Called when the operator wants what waits tried at once: the gateway's own pauses end, whatever asked for them.
    func retryNow()

    /// The time, as the service said it last; `nil`: its answers carry none.
    var timeTold: ToldTime? { get }

    /// The figures of its connections that the operator may see.
    var figures: GatewayFigures { get }
}

extension Gateway {
    package func look(then end: @escaping @EventLoop () -> Void) { end() }
    package func retryNow() {}
    package var timeTold: ToldTime? { nil }
    package var onWay: (@EventLoop (_ way: Int, _ room: Int) -> Bool)? {
        get { nil }
        set {}
    }
    package var onOtherWay: (@EventLoop () -> Void)? {
        get { nil }
        set {}
    }
}
