import Relay
import Testing

@testable import Gateways

@Suite struct RefusedDevicesTests {
    private func device(_ number: Int) -> DeviceToken { DeviceToken("device \(number)") }

    @Test func beforeTheFirstSuccessEveryDeviceCountsOnce() {
        var devices = RefusedDevices()
        for number in 0..<20 {
            devices.refused(device(number))
            devices.refused(device(number))
        }
        #expect(devices.inARow == 20)
        devices.accepted(device(100))
        #expect(devices.inARow == 0)
    }

    /// Nor does anybody before it alone: it takes several.
    @Test func beforeTheFirstSuccessOneSenderSaysLittle() {
        var devices = RefusedDevices()
        for number in 0..<100 { devices.refused(device(number), from: SenderID(1)) }
        #expect(devices.inARow == RefusedDevices.mostOfOneSender)
        for number in 100..<120 { devices.refused(device(number), from: SenderID(number)) }
        #expect(devices.inARow == RefusedDevices.mostOfOneSender + 20)
        devices.accepted(device(200))
        #expect(devices.inARow == 0)
        devices.refused(device(200), from: SenderID(1))
        #expect(devices.inARow == 1)
    }

    /// Whoever makes tokens up raises no alarm.
    @Test func afterwardsOnlyDevicesThatWereKnownToBeGoodCount() {
        var devices = RefusedDevices()
        for number in 0..<5 { devices.accepted(device(number)) }
        for number in 100..<200 { devices.refused(device(number)) }
        #expect(devices.inARow == 0)
        for number in 0..<3 { devices.refused(device(number)) }
        #expect(devices.inARow == 3)
        devices.accepted(device(3))
        #expect(devices.inARow == 0)
    }

    @Test func whatIsRememberedIsBounded() {
        var devices = RefusedDevices()
        for number in 0...(2 * RefusedDevices.most) { devices.accepted(device(number)) }
        devices.refused(device(0))
        #expect(devices.inARow == 0)
        devices.refused(device(2 * RefusedDevices.most))
        #expect(devices.inARow == 1)
    }
}
