/// The count of notifications that a lane has on disk only, and their devices as long as these are known.
///
/// A notification for a device that has nothing there need not wait behind the others. Other nodes' notifications name
/// their devices; any other one makes the devices unknown, until nothing is left.
struct LaneShelf: Equatable, Sendable {
    /// Notifications on disk only, and those on their way there.
    private(set) var count = 0
    /// The count of each device; `nil`: it is not known.
    private var devices: [Digest: Int]? = [:]

    /// The most devices that are known at a time.
    static let most = 1024

    /// Adds notifications of a device; `nil`: of several, or of one whose others must not be overtaken.
    mutating func add(_ added: Int = 1, of device: Digest? = nil) {
        count += added
        if count == 0 {
            devices = [:]
        } else if let device, let known = devices?.count, known < LaneShelf.most {
            devices?[device, default: 0] += added
        } else {
            devices = nil
        }
    }

    /// Removes notifications of a device; `nil`: of several.
    mutating func remove(_ removed: Int = 1, of device: Digest? = nil) {
        count -= removed
        if count == 0 {
            devices = [:]
        } else if let device, let had = devices?[device], had >= removed {
            devices?[device] = had > removed ? had - removed : nil
        } else {
            devices = nil
        }
    }

    /// Whether a device may have something there.
    func mayHold(_ device: Digest) -> Bool { count > 0 && devices.map { $0[device] != nil } ?? true }
}
