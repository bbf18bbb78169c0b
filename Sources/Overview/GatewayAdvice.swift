/// What an operator does about a gateway's word, or about what kept TLS from coming about.
package enum GatewayAdvice {
    package static func text(for reason: String) -> String {
        switch reason {
        case "ExpiredProviderToken":
            "the token was signed a moment ago, so this machine's clock is wrong: timedatectl set-ntp true"
        case "InvalidProviderToken":
            "key_file, key_id and team_id must belong together (developer.apple.com, Keys and Membership), the key must not be revoked, and the clock must be right"
        case "TopicDisallowed", "BadTopic", "MissingTopic", "DeviceTokenNotForTopic":
            "topic must be the app's bundle id, and the app must be of the team whose key or certificate it is"
        case "BadCertificate", "BadCertificateEnvironment":
            "the certificate was revoked, has ended, or is for the other of Apple's two hosts: put in the right .p12"
        case "BadEnvironmentKeyIdInToken", "BadEnvironmentKeyInToken":
            "Apple made this key for the other of its two hosts: make one for both, or for this one"
        case "invalid_grant":
            "the service account's key was deleted or is another account's, or this machine's clock is wrong: make a new key in the Firebase console"
        case "UNAUTHENTICATED":
            "Google does not take its own token back: make a new key for the service account"
        case "PERMISSION_DENIED", "SENDER_ID_MISMATCH":
            "switch on the Firebase Cloud Messaging API (V1) for the project, and give the service account its role (Firebase Admin, or cloudmessaging.messages.create)"
        case "NOT_FOUND":
            "there is no such project: is the service account of the app's own Firebase project?"
        case _: "look the word up in the article about reason words (ReasonWords.md)"
        }
    }

    package static func text(forTLS reason: String) -> String {
        if reason.contains("alert 45") || reason.contains("alert 44") || reason.contains("alert 42") {
            return "the push certificate has ended, was revoked or is not one: put in a new .p12"
        }
        if reason.contains("not yet valid") || reason.contains("expired") {
            return
                "this machine's clock is wrong (timedatectl set-ntp true), or something between here and there answers"
        }
        return
            "something between here and there answers in its place, or ca_file does not fit; without ca_file the system's authorities count (apt install ca-certificates)"
    }
}
