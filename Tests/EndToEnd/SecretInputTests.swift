import Client
import Foundation
import JSONCoding
import Testing
import Wire

/// Secrets that are pasted into a terminal, or come through a pipe.
@Suite(.serialized) struct SecretInputTests {
    /// Runs a command at a terminal, pastes the text of standard input when it has asked, and tells what became of it.
    private static let terminal = """
        import fcntl, json, os, select, signal, subprocess, sys, termios, threading
        kind, words, pasted = sys.argv[1], sys.argv[2:], sys.stdin.buffer.read()
        master, slave = os.openpty()
        before = termios.tcgetattr(slave)
        def own():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        child = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own)
        said, asked, ended = b"", threading.Event(), threading.Event()
        def heard():
            try: return os.read(master, 65536)
            except BlockingIOError: return b""
        def listen():
            global said
            while not ended.is_set() or select.select([master], [], [], 0)[0]:
                if select.select([master], [], [], 0.05)[0]: said += heard()
                if b"(not shown): " in said: asked.set()
        ear = threading.Thread(target=listen)
        ear.start()
        while not asked.wait(0.05) and child.poll() is None: pass
        if kind == "kill": child.send_signal(signal.SIGTERM)
        else:
            # One who pastes does it at once; the pieces are the terminal's, and end with who reads them.
            os.set_blocking(master, False)
            while pasted and child.poll() is None:
                try: pasted = pasted[os.write(master, pasted[:1000]):]
                except BlockingIOError: select.select([], [master], [], 0.05)
        status = child.wait()
        ended.set()
        ear.join()
        os.set_blocking(slave, False)
        try: left = os.read(slave, 65536)
        except BlockingIOError: left = b""
        print(json.dumps({"status": status, "said": said.decode(), "left": left.decode(),
            "restored": termios.tcgetattr(slave) == before}))
        """

    private func atTerminal(
        _ words: [String], pasting text: String, kind: String = "paste"
    ) throws -> (status: Int64?, said: String) {
        let result = try run(["python3", "-c", Self.terminal, kind, program] + words, input: text)
        let answer = try JSON(Array(result.output.utf8))
        #expect(answer["left"]?.string == "", "the shell would run it")
        #expect(answer["restored"]?.bool == true)
        return (answer["status"]?.integer, answer["said"]?.string ?? "")
    }

    /// The configuration is read behind the token: that it is missing means that the token was taken.
    private let add = ["phones", "add", "me", "--config", "/nowhere/onionbell.yaml", "--pairing-token", "-"]
    private let taken: Int64 = 78

    private func lines(_ token: PairingToken, width: Int, by end: String) -> String {
        stride(from: 0, to: token.text.count, by: width).map { start in
            String(token.text.dropFirst(start).prefix(width))
        }.joined(separator: end)
    }

    private func token(deviceToken: String? = nil) throws -> PairingToken {
        let phone = try Phone.new(.android, descriptor: "Pixel8")
        guard let deviceToken else { return phone.pairingToken }
        return try PairingToken(
            platform: .android, descriptor: "Pixel8", key: phone.pairingToken.key, deviceToken: deviceToken)
    }

    @Test(arguments: [("\n", 40), ("\r\n", 61), ("  \n\t", 33), ("\n\n", 50), ("\n", 5000)])
    func aTokenWithLineBreaksIsTakenWholeAndNotShown(end: String, width: Int) throws {
        let token = try token()
        let (status, said) = try atTerminal(add, pasting: lines(token, width: width, by: end) + "\n")
        #expect(status == taken, "\(said)")
        #expect(said.hasPrefix("Pairing token (not shown): \r\n"), "\(said)")
        #expect(!said.contains(token.key.prefix(8)) && !said.contains(token.deviceToken.prefix(8)))
    }

    /// A terminal's own lines end at 4,095 bytes.
    @Test func theLongestTokenOfOneLineIsTaken() throws {
        let long = try token(deviceToken: String(repeating: "a", count: 4096))
        #expect(try atTerminal(add, pasting: long.text + "\n").status == taken)
    }

    @Test func typingMistakesAreTakenBack() throws {
        let typed = "äx\u{15}" + (try token()).text.replacing("Pixel8", with: "Pé\u{7f}x\u{8}ixel8\u{1b}[D")
        #expect(try atTerminal(add, pasting: typed + "\n").status == taken)
    }

    @Test func nothingGoesToTheShellAfterAMistake() throws {
        let wrong = try atTerminal(add, pasting: "android|Pixel|short|token\ntouch a\n\necho b\n\n")
        #expect(
            wrong.status == 65 && wrong.said.contains("the key in the pairing token has 5"), "\(wrong.said)")
        #expect(try atTerminal(add, pasting: "\n").status == 65)
        #expect(try atTerminal(add, pasting: "android|Pixel\u{4}echo b\n").status == 65)
        let long = String(repeating: String(repeating: "a", count: 99) + "\n", count: 300)
        #expect(try atTerminal(add, pasting: long).status == 65)
    }

    @Test func nothingGoesToTheShellAfterCtrlC() throws {
        let stopped = try atTerminal(add, pasting: "android|Pixel\n\u{3}echo a\necho b\n")
        #expect(stopped.status == -Int64(SIGINT), "\(stopped)")
        #expect(try atTerminal(add, pasting: "", kind: "kill").status == -Int64(SIGTERM))
    }

    @Test func allCommandsThatReadASecretDoItLikeThis() throws {
        let token = try token()
        let broken = lines(token, width: 50, by: "\n") + "\n"
        for words in [
            ["phones", "alias", "me", "--config", "/nowhere/onionbell.yaml", "--pairing-token", "-"],
            ["phones", "test", "me", "--config", "/nowhere/onionbell.yaml", "--pairing-token", "-"],
        ] {
            #expect(try atTerminal(words, pasting: broken).status == taken, "\(words)")
        }
        let device = try atTerminal(
            [
                "phones", "add", "me", "--config", "/nowhere/onionbell.yaml", "--platform", "android",
                "--device-token", "-",
            ], pasting: "\(token.deviceToken.prefix(20))\n\(token.deviceToken.dropFirst(20))\n")
        #expect(
            device.status == taken && !device.said.contains(token.deviceToken.prefix(8)), "\(device.said)")
    }

    @Test func aPipeMayHaveLineBreaksToo() throws {
        let token = try token()
        for text in [token.text, token.text + "\n\n", lines(token, width: 40, by: "\r\n") + "\r\n"] {
            let piped = try run([program] + add, input: text)
            #expect(piped.status == 78, "\(piped.errors)")
            #expect(!piped.errors.contains("not shown"))
        }
        #expect(try run([program] + add, input: "android|x\n").status == 65)
    }
}
