import StatusIM
import Testing

@Suite struct UUIDTextTests {
    private static let plain = "0b5376cf-7979-4b86-bd54-842eba5b1def"

    @Test(arguments: [
        plain, plain.uppercased(), "urn:uuid:\(plain)", "URN:UUID:\(plain)", "{\(plain)}",
        "0b5376cf79794b86bd54842eba5b1def", "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ])
    func whatGoReadsIsTaken(text: String) { #expect(isUUID(text)) }

    @Test(arguments: [
        "", "x", String(plain.dropLast()), plain + "0", "0b5376cf-7979-4b86-bd54-842eba5b1deg",
        "0b5376cf07979-4b86-bd54-842eba5b1def", "urn:uuid-\(plain)", "urn:uuie:\(plain)",
        "{0b5376cf-7979-4b86-bd54-842eba5b1de}}", "0b5376cf79794b86bd54842eba5b1de-",
        "ü5376cf-7979-4b86-bd54-842eba5b1def",
    ])
    func whatGoRefusesIsRefused(text: String) { #expect(!isUUID(text)) }
}
