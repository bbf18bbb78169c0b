import Crypto
import Encodings
import EndpointWorlds
import JSONCoding
import PushEndpoints
import Relay
import Testing

@testable import Bitwarden

/// What servers of old and new ask, sentence by sentence, by value.
@Suite struct BitwardenPartsTests {
    private static let own = "93b60203-2c75-4ec9-b575-6651c7dad956"
    private static let other = "9735bb61-ef71-4357-9222-2d52fc5ac0c6"
    private static let token = String(repeating: "aB", count: 32)

    private func read(_ method: String, _ path: String, _ body: String = "") throws(BitwardenFault)
        -> BitwardenRequest
    {
        try BitwardenRequest(method: method, path: path, body: Array(body.utf8), installation: Self.own)
    }

    /// The field that is to blame; `nil`: it was taken.
    private func fault(_ method: String, _ path: String, _ body: String) -> String? {
        do throws(BitwardenFault) {
            _ = try read(method, path, body)
            return nil
        } catch {
            #expect(error.status == 400)
            return error.fields.first?.key ?? error.message
        }
    }

    // MARK: Registering

    private func registration(_ members: String = "") throws -> BitwardenRequest.Registration? {
        let body =
            #"{"deviceId":"d","pushToken":"\#(Self.token)","userId":"u","identifier":"i","type":1\#(members)}"#
        guard case .register(let registration) = try read("POST", "register", body) else { return nil }
        return registration
    }

    @Test func aRegistrationIsReadInAnyCaseOfItsNames() throws {
        let plain = try #require(try registration())
        #expect(plain.pushToken == Self.token.lowercased() && plain.type == 1 && plain.organizations == [])
        for name in ["DeviceId", "DEVICEID", "deviceid"] {
            let body =
                #"{"\#(name)":"d","PushToken":"\#(Self.token)","USERID":"u","Identifier":"i","Type":1,"more":[{}]}"#
            #expect(try read("POST", "register", body) == .register(plain))
        }
    }

    @Test(arguments: [
        ("", []), (#","organizationIds":null"#, []), (#","organizationIds":[]"#, []),
        (#","organizationIds":["a",null,"","b"]"#, ["a", "b"]), (#","installationId":"\#(other)""#, []),
    ])
    func organizationsMayBeMissing(members: String, organizations: [String]) throws {
        #expect(try registration(members)?.organizations == organizations)
    }

    /// Without a type it is Android; what has no gateway here is kept, whatever its token looks like.
    @Test(arguments: [
        ("", 0), (#""type":null,"#, 0), (#""type":0,"#, 0), (#""type":15,"#, 15), (#""type":255,"#, 255),
    ])
    func aTypeIsANumberOrNothing(member: String, type: Int) throws {
        let token = type == 0 ? "abc:" + Self.token : "anything at all"
        let body = #"{\#(member)"deviceId":"d","pushToken":"\#(token)","userId":"u","identifier":"i"}"#
        guard case .register(let registration) = try read("POST", "register", body) else {
            Issue.record("no registration")
            return
        }
        #expect(registration.type == type && registration.pushToken == token)
    }

    @Test(arguments: [
        (#""deviceId":null"#, "DeviceId"), (#""deviceId":"""#, "DeviceId"), (#""deviceId":"  ""#, "DeviceId"),
        (#""deviceId":5"#, "DeviceId"), (#""userId":null"#, "UserId"), (#""identifier":"""#, "Identifier"),
        (#""pushToken":"""#, "PushToken"), (#""pushToken":"zz""#, "PushToken"), (#""type":"1""#, "Type"),
        (#""type":256"#, "Type"), (#""type":-1"#, "Type"), (#""type":1.5"#, "Type"),
        (#""type":true"#, "Type"),
        (#""organizationIds":"a""#, "OrganizationIds"), (#""organizationIds":[5]"#, "OrganizationIds"),
    ])
    func whatIsWrongWithARegistrationIsNamed(member: String, field: String) {
        let name = String(member.prefix { $0 != ":" })
        let rest = [
            #""deviceId":"d""#, #""pushToken":"\#(Self.token)""#, #""userId":"u""#, #""identifier":"i""#,
            #""type":1"#,
        ].filter { !$0.hasPrefix(name + ":") }
        #expect(fault("POST", "register", "{\((rest + [member]).joined(separator: ","))}") == field)
    }

    @Test(arguments: [
        ("", "Body is empty."), ("[]", "not a JSON object"), ("{", "not JSON"), ("null", "not a JSON object"),
    ])
    func aBodyIsAnObject(body: String, text: String) {
        #expect(throws: BitwardenFault.self) { try read("POST", "register", body) }
        do { _ = try read("POST", "send", body) } catch { #expect(error.fields[""]?.contains(text) == true) }
    }

    // MARK: Deleting and changing

    /// The cloud's form of today, with and without a type; Vaultwarden's; that of official servers before April 2024.
    @Test(arguments: [
        ("POST", "delete", #"{"id":"D"}"#), ("POST", "delete", #"{"ID":"D","type":1}"#),
        ("POST", "delete/D", ""),
        ("DELETE", "D", ""), ("DELETE", "D", "{}"),
    ])
    func aDeviceIsDeletedInEachOfItsForms(method: String, path: String, body: String) throws {
        #expect(try read(method, path, body) == .delete("D"))
    }

    @Test(arguments: [
        ("PUT", "delete", #"{"id":"D"}"#), ("POST", "delete/", ""), ("POST", "delete/a/b", ""),
        ("DELETE", "", ""),
        ("DELETE", "a/b", ""), ("POST", "register/a", "{}"), ("PUT", "send", "{}"),
        ("POST", "add-organization", "{}"),
        ("GET", "send", ""), ("POST", "delete-registration", #"{"id":"D"}"#), ("POST", "Register", "{}"),
    ])
    func everythingElseIsNotThere(method: String, path: String, body: String) {
        #expect(throws: BitwardenFault.notFound) { try read(method, path, body) }
    }

    @Test(arguments: [
        (#"{"devices":[{"id":"a"},{"Id":"b","x":1}],"organizationId":"o"}"#, ["a", "b"]),
        (#"{"Devices":[],"OrganizationId":"o"}"#, []),
        (#"{"deviceIds":["a","b"],"organizationId":"o"}"#, ["a", "b"]),
        (#"{"devices":null,"deviceIds":["a"],"organizationId":"o"}"#, ["a"]),
    ])
    func membersAreNamedInBothForms(body: String, devices: [String]) throws {
        #expect(try read("PUT", "add-organization", body) == .addOrganization("o", devices: devices))
        #expect(try read("PUT", "delete-organization", body) == .deleteOrganization("o", devices: devices))
    }

    @Test(arguments: [
        (#"{"devices":[{"id":"a"}]}"#, "OrganizationId"), (#"{"organizationId":"o"}"#, "Devices"),
        (#"{"organizationId":"o","devices":[{"id":null}]}"#, "Devices"),
        (#"{"organizationId":"o","devices":["a"]}"#, "Devices"),
        (#"{"organizationId":"o","deviceIds":[""]}"#, "DeviceIds"),
    ])
    func aChangeNeedsBoth(body: String, field: String) {
        #expect(fault("PUT", "add-organization", body) == field)
    }

    /// Both doors may be served at one place.
    @Test(arguments: [
        ("/push/register", true), ("/push/send", true), ("/push/delete", true),
        ("/push/delete/d19def1c", true),
        ("/push/delete/a/b", true), ("/push/add-organization", true), ("/push/d19def1c", true),
        ("/push/", true),
        ("/push/a%2Fb", true), ("/push/0a0a/me", false), ("/push/0a0a/me/too", false),
        ("/push/deleted/me", false),
        ("/relay-to/production/0a0a", false),
    ])
    func aPathIsOfThisDoorOrOfWebPush(path: String, isOurs: Bool) {
        #expect(BitwardenDoor.isOurs(path) == isOurs)
        #expect(path.withBytes { PushPath.hasToken($0) } == (!isOurs && path.hasPrefix(PushPath.prefix)))
    }

    // MARK: Sending

    private func send(_ members: String) throws -> BitwardenRequest.Send? {
        guard case .send(let send) = try read("POST", "send", "{\(members)}") else { return nil }
        return send
    }

    /// Installation before user before organization; null is nothing.
    @Test(
        arguments: [
            (#""userId":"\#(other.uppercased())""#, .user(other)),
            (#""userId":null,"organizationId":"\#(other)","installationId":null"#, .organization(other)),
            (#""userId":"\#(own)","organizationId":"\#(other)""#, .user(own)),
            (
                #""userId":"\#(other)","organizationId":"\#(other)","installationId":"\#(own.uppercased())""#,
                .installation
            ),
        ] as [(String, BitwardenRequest.Send.Target)])
    func theFirstThatIsSetIsTheTarget(members: String, target: BitwardenRequest.Send.Target) throws {
        #expect(try send(#"\#(members),"type":5,"payload":{}"#)?.target == target)
    }

    /// Any JSON but null; to its last blank as it was written.
    @Test(arguments: ["{}", "[ 1,2 ]", "0", "false", #""""#, #"{ "B":1.50,"a":"\u00e9\/" }"#])
    func aPayloadIsWhatWasWritten(payload: String) throws {
        #expect(try send(#""userId":"\#(Self.own)","type":0,"Payload": \#(payload) "#)?.payload == payload)
    }

    @Test(arguments: [
        ("null", true), ("0", true), ("4", true), ("1", false), ("2", false), ("3", false), ("5", false),
        ("255", false),
    ])
    func onlyPhonesAreServed(client: String, isForPhones: Bool) throws {
        let read = try send(#""userId":"\#(Self.own)","type":0,"payload":{},"clientType":\#(client)"#)
        #expect(read?.isForPhones == isForPhones)
    }

    @Test(arguments: [("null", nil), (#""""#, nil), (#""b5f5""#, "b5f5")] as [(String, String?)])
    func theActingAppMayBeUnsaid(identifier: String, acting: String?) throws {
        let read = try send(#""userId":"\#(Self.own)","type":255,"payload":{},"identifier":\#(identifier)"#)
        #expect(read?.acting == acting && read?.type == 255)
    }

    @Test(arguments: [
        (#""userId":"me","type":0,"payload":{}"#, "UserId"),
        (#""userId":"","type":0,"payload":{}"#, "UserId"),
        (#""userId":5,"type":0,"payload":{}"#, "UserId"),
        (#""organizationId":"93b602032c754ec9b5756651c7dad956","type":0,"payload":{}"#, "OrganizationId"),
        (#""userId":"\#(own)","payload":{}"#, "Type"),
        (#""userId":"\#(own)","type":null,"payload":{}"#, "Type"),
        (#""userId":"\#(own)","type":"0","payload":{}"#, "Type"),
        (#""userId":"\#(own)","type":256,"payload":{}"#, "Type"),
        (#""userId":"\#(own)","type":0"#, "Payload"),
        (#""userId":"\#(own)","type":0,"payload":null"#, "Payload"),
        (#""userId":"\#(own)","type":0,"payload":{},"clientType":"Mobile""#, "ClientType"),
        (#""type":0,"payload":{}"#, ""),
        (
            #""installationId":"\#(other)","type":0,"payload":{}"#,
            "InstallationId does not match current context."
        ),
        (
            #""userId":"\#(own)","installationId":"\#(other)","type":0,"payload":{}"#,
            "InstallationId does not match current context."
        ),
    ])
    func whatIsWrongWithASendIsNamed(members: String, field: String) {
        #expect(fault("POST", "send", "{\(members)}") == field)
    }

    /// A text within JSON; for Apple the type is a number, for Google a text.
    @Test func aPhoneGetsTheTypeAsItsAppReadsIt() throws {
        let read = try #require(try send(#""userId":"\#(Self.own)","type":20,"payload":{"t":"\"q\"\n/ü<"}"#))
        for (type, wanted) in [(1, JSON.integer(20)), (0, .string("20"))] {
            guard let (content, size) = read.content(for: type, pushToken: "a:b"),
                case .prepared(let push) = content
            else {
                Issue.record("nothing for type \(type)")
                continue
            }
            let body = try JSON(Array(push.body.utf8))
            let data = type == 1 ? body["data"] : body["message"]?["data"]
            #expect(data?["type"] == wanted)
            #expect(data?["payload"] == .string(#"{"t":"\"q\"\n/ü<"}"#))
            #expect(type == 1 ? size == push.body.utf8.count : body["message"]?["token"] == "a:b")
        }
        #expect(read.content(for: 15, pushToken: "a") == nil)
    }

    // MARK: Tokens

    private func tokenFault(_ form: String) -> BitwardenTokenRequest.Fault? {
        do throws(BitwardenTokenRequest.Fault) {
            _ = try BitwardenTokenRequest(Array(form.utf8))
            return nil
        } catch {
            return error
        }
    }

    private static let form = "grant_type=client_credentials&scope=api.push&client_secret=k"

    @Test(
        arguments: [
            ("\(form)&client_id=installation.\(own)", nil),
            ("\(form)&client_id=installation.\(own.uppercased())&x=y", nil),
            ("\(form)&client_id=installation%2E\(own)", nil), ("", .unsupportedGrantType),
            ("scope=api.push", .unsupportedGrantType), ("\(form)&client_id=\(own)", .invalidClient),
            ("\(form)&client_id=installation.me", .invalidClient), (form, .invalidClient),
            ("grant_type=client_credentials&scope=api.push&client_id=installation.\(own)", .invalidClient),
            ("grant_type=client_credentials&client_secret=k&client_id=installation.\(own)", .invalidScope),
            (
                "grant_type=client_credentials&scope=API.push&client_secret=k&client_id=installation.\(own)",
                .invalidScope
            ),
            ("%zz", .invalidRequest),
        ] as [(String, BitwardenTokenRequest.Fault?)])
    func whoAsksForATokenIsToldInOAuthsWords(form: String, fault: BitwardenTokenRequest.Fault?) {
        #expect(tokenFault(form) == fault)
    }

    /// Official servers use one for five minutes after its end.
    @Test func aTokenIsGoodForADayAndFiveMinutes() {
        let tokens = BitwardenTokens(key: Secret([1]))
        let key = Relay.Digest(high: 1, low: 2)
        let token = tokens.token(for: Self.own, with: key, at: 1000)
        for (time, installation) in [(1000, Self.own), (1000 + 86_700, Self.own), (1000 + 86_701, nil)]
            as [(Int64, String?)]
        {
            let bearer = tokens.bearer(of: token, at: time)
            #expect(bearer?.installation == installation)
            #expect(bearer?.holds(key) != false)
            #expect(bearer?.holds(Relay.Digest(high: 1, low: 3)) != true)
        }
        #expect(tokens.bearer(of: token + "A", at: 1000) == nil)
        #expect(BitwardenTokens(key: Secret([2])).bearer(of: token, at: 1000) == nil)
    }
}
