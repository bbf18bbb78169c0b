import Encodings
import HTTP1
import JSONCoding
import Relay

/// A request of a self-hosted server to its relay (bitwarden/server, `PushController`; Vaultwarden, `push.rs`).
package enum BitwardenRequest: Equatable {
    case register(Registration)
    /// The device's id.
    case delete(String)
    case addOrganization(String, devices: [String])
    case deleteOrganization(String, devices: [String])
    case send(Send)

    package struct Registration: Equatable {
        package var deviceID: String
        package var pushToken: String
        package var userID: String
        package var identifier: String
        package var type: Int
        package var organizations: [String]
    }

    package struct Send: Equatable {
        package enum Target: Equatable {
            /// The sender's own installation.
            case installation
            case user(String)
            case organization(String)
        }

        package var target: Target
        /// Bitwarden's number of what has happened.
        package var type: Int
        /// The payload: JSON, as it was written.
        package var payload: String
        /// The acting app installation, which is left out.
        package var acting: String?
        /// Whether the push is for the apps on phones at all.
        package var isForPhones: Bool
    }

    /// The word for metrics.
    var word: String {
        switch self {
        case .register: "register"
        case .delete: "delete"
        case .addOrganization, .deleteOrganization: "organization"
        case .send: "send"
        }
    }

    /// Elements of a list: organizations of a device, devices of a change.
    static let mostElements = 1000
    /// Bitwarden's device types that have a gateway here.
    static let android = 0
    static let ios = 1

    /// Reads a request.
    ///
    /// - Parameters:
    ///   - path: The path behind `/push/`, percent-decoded.
    ///   - installation: The installation of the sender's token.
    package init(
        method: String, path: String, body: [UInt8], installation: String
    ) throws(BitwardenFault) {
        switch (method, path.name() ?? "") {
        case ("POST", "register"): self = .register(try Registration(try BitwardenBody(body)))
        case ("POST", "delete"): self = .delete(try BitwardenBody(body).text("Id"))
        case ("PUT", "add-organization"):
            let change = try BitwardenRequest.change(try BitwardenBody(body))
            self = .addOrganization(change.organization, devices: change.devices)
        case ("PUT", "delete-organization"):
            let change = try BitwardenRequest.change(try BitwardenBody(body))
            self = .deleteOrganization(change.organization, devices: change.devices)
        case ("POST", "send"): self = .send(try Send(try BitwardenBody(body), installation: installation))
        default:
            // Vaultwarden's form, and that of official servers before April 2024.
            let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            let id =
                switch (method, parts.count) {
                case ("POST", 2) where parts[0].elementsEqual("delete".utf8): Substring(parts[1])
                case ("DELETE", 1): Substring(parts[0])
                default: Substring()
                }
            guard (1...256).contains(id.utf8.count) else { throw .notFound }
            self = .delete(String(id))
        }
    }

    private static func change(
        _ body: BitwardenBody
    ) throws(BitwardenFault) -> (organization: String, devices: [String]) {
        let organization = try body.text("OrganizationId")
        if let devices = try body.identifiers(ofAll: "Devices", limit: mostElements) {
            return (organization, devices)
        }
        // Before April 2024.
        guard let devices = try body.texts("DeviceIds", limit: mostElements) else {
            throw .required("Devices")
        }
        return (organization, devices)
    }
}

extension BitwardenRequest.Registration {
    init(_ body: BitwardenBody) throws(BitwardenFault) {
        deviceID = try body.text("DeviceId")
        pushToken = try body.text("PushToken", limit: 4096)
        userID = try body.text("UserId")
        identifier = try body.text("Identifier")
        type = try body.number("Type", in: 0...255) ?? BitwardenRequest.android
        organizations =
            try body.texts("OrganizationIds", limit: BitwardenRequest.mostElements, skipsEmpty: true) ?? []
        let token: DeviceToken?
        let service: String
        switch type {
        case BitwardenRequest.android: (token, service) = (DeviceToken(opaque: pushToken), "fcm")
        case BitwardenRequest.ios: (token, service) = (DeviceToken(hexadecimal: pushToken), "apns")
        default: return
        }
        guard let token else {
            throw .invalid("PushToken", "The PushToken field is not a token of \(service).")
        }
        pushToken = token.text
    }
}

extension BitwardenRequest.Send {
    /// Reads a push. The first field that is set is the target: installation, user, organization.
    init(_ body: BitwardenBody, installation: String) throws(BitwardenFault) {
        let user = try body.identifier("UserId")
        let organization = try body.identifier("OrganizationId")
        let named = try body.identifier("InstallationId")
        guard let type = try body.number("Type", in: 0...255) else { throw .required("Type") }
        guard let payload = body.value("Payload") else { throw .required("Payload") }
        if let named {
            guard named == installation else {
                throw BitwardenFault(message: "InstallationId does not match current context.")
            }
            target = .installation
        } else if let user {
            target = .user(user)
        } else if let organization {
            target = .organization(organization)
        } else {
            throw .invalid("", "UserId or OrganizationId or InstallationId is required.")
        }
        self.type = type
        // It was read as UTF-8 already.
        self.payload = String(decoding: payload.text, as: UTF8.self)
        acting = try body.optionalText("Identifier")
        let client = try body.number("ClientType", in: 0...255) ?? 0
        isForPhones = client == BitwardenRequest.Send.everyClient || client == BitwardenRequest.Send.mobile
        // Before it is written for each of the phones.
        guard !isForPhones || self.payload.utf8.count <= Validator.payloadLimit else {
            throw BitwardenFault.payloadTooLarge
        }
    }

    private static let everyClient = 0
    private static let mobile = 4
}

extension BitwardenRequest.Send {
    /// Returns the content for a phone of this type, byte for byte as its app reads it: a JSON text within JSON; for Apple
    /// the type is a number, for Google a text.
    ///
    /// - Returns: `nil` for a type of device that has no gateway here.
    package func content(for type: Int, pushToken: String) -> (content: Content, payloadSize: Int)? {
        var text: [UInt8] = []
        text.append(jsonString: payload)
        let payloadText = String(decoding: text, as: UTF8.self)
        switch type {
        case BitwardenRequest.ios:
            let body =
                #"{"data":{"type":\#(self.type),"payload":\#(payloadText)},"aps":{"content-available":1}}"#
            return (
                .prepared(PreparedPush(.object(body, isAlert: false), isUrgent: false, expiry: .unsaid)),
                body.utf8.count
            )
        case BitwardenRequest.android:
            // A token of Google's holds nothing that JSON must escape.
            let body =
                #"{"message":{"token":"\#(pushToken)","data":{"type":"\#(self.type)","payload":\#(payloadText)}}}"#
            let size = "type".utf8.count + String(self.type).utf8.count + "payload".utf8.count
            return (
                .prepared(PreparedPush(exactly: body, isUrgent: false)), size + payload.utf8.count
            )
        default: return nil
        }
    }
}
