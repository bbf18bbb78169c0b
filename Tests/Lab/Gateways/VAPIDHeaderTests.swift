import Lab
import Testing
import Vectors

@Suite struct VAPIDHeaderTests {
    struct Case: Decodable, Sendable {
        let name: String
        let header: String?
        let audience: String
        let now: Int64
        let subject_rule: String
        let subscription_key: String
        let valid: Bool
        let why: String?
    }

    @Test func headersAreJudgedAsPushServersDo() throws {
        for one in try Vectors.webPush("vapid", as: Case.self) {
            do throws(VAPIDHeader.Fault) {
                let header = try VAPIDHeader(
                    one.header, audience: one.audience, now: one.now,
                    mustBeContactable: one.subject_rule == "contactable")
                #expect(one.valid && header.key == one.subscription_key, "\(one.name)")
            } catch {
                #expect(!one.valid && error.rawValue == one.why, "\(one.name): \(error)")
            }
        }
    }
}
