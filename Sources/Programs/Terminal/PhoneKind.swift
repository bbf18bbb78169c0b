import ArgumentParser
import Encodings

/// A kind of phone, by the word with which its pairing token begins.
package enum PhoneKind: String, CaseIterable, ExpressibleByArgument {
    case iOS, iOSDev, android

    package var value: Platform {
        switch self {
        case .iOS: .ios
        case .iOSDev: .iosDev
        case .android: .android
        }
    }
}
