import Encodings
import Foundation
import Testing

@testable import Encodings

@Suite struct EncodingTests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", "", ""), ("f", "Zg==", "my"), ("fo", "Zm8=", "mzxq"), ("foo", "Zm9v", "mzxw6"),
        ("foob", "Zm9vYg==", "mzxw6yq"), ("fooba", "Zm9vYmE=", "mzxw6ytb"),
        ("foobar", "Zm9vYmFy", "mzxw6ytboi"),
    ])
    func encodingsMatchTheStandardsExamples(plain: String, base64: String, base32: String) {
        let bytes = Array(plain.utf8)
        #expect(Base64.encode(bytes) == base64)
        #expect(Base64.decode(base64) == bytes)
        #expect(Base64.decodeFromURL(Base64.encodeForURL(bytes)) == bytes)
        #expect(Base32.encode(bytes) == base32)
        #expect(Base32.decode(base32) == bytes)
        #expect(Base32.decode(base32.uppercased()) == bytes)
    }

    @Test func randomBytesComeBack() {
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
            #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decodeFromURL(Base64.encodeForURL(bytes)) == bytes)
            #expect(Base32.decode(Base32.encode(bytes)) == bytes)
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "Zg== ", "Zm9v\n", "Z===", "====", "=", "Zh==", "Zm9=", "Zm-v", "Zm_v", "Zm9vÄ",
        "Z=g=",
        "Zg==Zg==", "A", "AA", "AAA", "A===", "AB==", "AAB=", "AA=A", "AAA=AAAA", "AA\nA", "A-_A", "AAAA ",
    ])
    func base64ThatNobodyWritesIsRefused(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Z", "Zm9vY", "Zm+v", "Zm/v", "Zh", "Zm9"])
    func base64ForURLsThatNobodyWritesIsRefused(text: String) {
        #expect(Base64.decodeFromURL(text) == nil)
    }

    @Test(arguments: ["m", "mzx", "mzxw6y", "mz", "m1", "m=", "mzxw6yt0", "ÄÄ"])
    func base32ThatNobodyWritesIsRefused(text: String) {
        #expect(Base32.decode(text) == nil)
    }

    @Test(arguments: ["0", "0g", "zz", " 00", "ä"])
    func hexThatNobodyWritesIsRefused(text: String) {
        #expect(Hex.decode(text) == nil)
    }

    @Test func hexIsReadInEitherCase() {
        #expect(Hex.decode("00fFAb") == [0, 0xff, 0xab])
        #expect(Hex.encode([0, 0xff, 0xab]) == "00ffab")
    }
}
