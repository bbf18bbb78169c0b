#!/usr/bin/env python3
"""Rings a phone through an Onionbell node, in Bisq's peer-to-peer protocol: the reference for whoever writes a sender.

    peer.py --to ADDRESS.onion[:9999] [--socks 127.0.0.1:9050] [--title TEXT] [--message TEXT] < pairing-token

The pairing token comes on standard input, since it holds the phone's key. ADDRESS may also be HOST:PORT: that is dialled
without Tor. Exit status: 0 delivered, 1 it never will be, 3 the node may have it (called again, it may
ring twice), 64 wrong arguments, 75 not now. Python's own library is enough.
The messages are those of Sources/Core/Wire/onionbell.proto.
"""
import argparse, base64, io, json, os, socket, struct, sys, time

VERSION = 10  # of every envelope: Bitcoin's main network
PING, CLOSE, REQUEST, RESPONSE = 6, 15, 1001, 1002
ANSWERS = {1: "stored", 2: "delivered", 3: "refused", 4: "dead token", 5: "expired", 6: "busy"}
PLATFORMS = {"iOS": 1, "iOSDev": 2, "android": 3}
LONGEST_FRAME = 65_536
# Reasons of a node's close that the same bytes will meet again: of another network, not read, too large.
FINAL_REASONS = {"WRONG_NETWORK_ID", "INVALID_DATA_TYPE", "MAX_MSG_SIZE_EXCEEDED"}

class Never(Exception):
    """No other try helps."""

# Protobuf: a field is a key (number and wire type) and a value. The messages need numbers (0) and texts (2) only.
def varint(number):
    parts = b""
    while number > 127:
        parts, number = parts + bytes([number & 127 | 128]), number >> 7
    return parts + bytes([number])

def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b""
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value if value else b""

def read_varint(take):
    """The next number of a stream, or None at its end. `take(n)` gives n bytes of it, or fewer at the end."""
    number = 0
    for shift in range(0, 70, 7):
        byte = take(1)
        if not byte:
            return None
        number |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return number
    raise ValueError("a number of over ten bytes")

def fields(message):
    """The fields of a message by their numbers: the last one counts, as in every reader of protobuf."""
    stream, found = io.BytesIO(message), {}
    while (key := read_varint(stream.read)) is not None:
        if key & 7 == 0:
            found[key >> 3] = read_varint(stream.read)
        else:
            found[key >> 3] = stream.read({1: 8, 5: 4}.get(key & 7) or read_varint(stream.read))
    return found

# The connection: a length and an envelope, in both directions, at any time.
class Peer:
    def __init__(self, address, socks):
        host, _, port = address.partition(":")
        target = (host, int(port or 9999))
        is_onion = host.endswith(".onion")
        self.socket = self.through_tor(socks, *target) if is_onion else socket.create_connection(target, 60)
        self.socket.settimeout(60)

    @staticmethod
    def through_tor(socks, host, port):
        """SOCKS 5. A name and password of its own give the connection a circuit of its own."""
        proxy, _, proxy_port = socks.partition(":")
        stream = socket.create_connection((proxy, int(proxy_port)), 120)
        name = os.urandom(8).hex().encode()
        stream.sendall(b"\5\1\2")
        if Peer.exactly(stream, 2) != b"\5\2":
            raise ConnectionError("the SOCKS port takes no name")
        stream.sendall(b"\1" + bytes([len(name)]) + name + b"\1-")
        Peer.exactly(stream, 2)
        stream.sendall(b"\5\1\0\3" + bytes([len(host)]) + host.encode() + struct.pack(">H", port))
        answer = Peer.exactly(stream, 10)  # tor always answers with an IPv4 address
        if answer[1] == 0xF6:
            raise Never("the address is misspelt")
        if answer[1]:
            raise ConnectionError(f"tor can't reach {host}: SOCKS error {answer[1]:#04x}")
        return stream

    @staticmethod
    def exactly(stream, count):
        got = bytearray()
        while len(got) < count:
            part = stream.recv(count - len(got))
            if not part:
                raise ConnectionError("the node has closed the connection")
            got += part
        return bytes(got)

    def send(self, kind, message):
        envelope = field(1, VERSION) + varint(kind << 3 | 2) + varint(len(message)) + message
        self.socket.sendall(varint(len(envelope)) + envelope)

    def receive(self):
        """The next envelope. A connection without a frame is closed after 240 s: a Ping a minute keeps it."""
        while True:
            try:
                length = read_varint(lambda count: self.exactly(self.socket, count))
                break
            except TimeoutError:
                self.send(PING, field(1, 1))
        if length > LONGEST_FRAME:
            raise ValueError(f"a frame of {length} bytes")
        return fields(self.exactly(self.socket, length))

# The message: JSON, filled with blanks, AES-256 in CBC mode under the phone's key, with a new IV for each.
def times2(byte):
    return byte << 1 ^ (0x11B if byte & 128 else 0)

def s_box():
    box, p, q = [0x63] * 256, 1, 1
    while True:
        p ^= times2(p)  # times 3, and q divided by 3
        for shift in (1, 2, 4):
            q ^= q << shift
        q = (q ^ (0x09 if q & 128 else 0)) & 255
        box[p] = (q ^ q << 1 ^ q >> 7 ^ q << 2 ^ q >> 6 ^ q << 3 ^ q >> 5 ^ q << 4 ^ q >> 4) & 255 ^ 0x63
        if p == 1:
            return box

BOX = s_box()
def round_keys(key):
    words, factor = [list(key[at:at + 4]) for at in range(0, 32, 4)], 1
    while len(words) < 60:
        word = words[-1]
        if len(words) % 8 == 0:
            word = [BOX[byte] for byte in word[1:] + word[:1]]
            word[0], factor = word[0] ^ factor, times2(factor)
        elif len(words) % 8 == 4:
            word = [BOX[byte] for byte in word]
        words.append([a ^ b for a, b in zip(words[-8], word)])
    return [sum(words[at:at + 4], []) for at in range(0, 60, 4)]

def encrypt_block(keys, block):
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number, key in enumerate(keys[1:], 1):
        state = [BOX[state[(at * 5) % 16]] for at in range(16)]  # substitute bytes, shift rows
        if number < 14:  # mix columns
            columns = (state[at:at + 4] for at in range(0, 16, 4))
            state = [times2(c[i]) ^ times2(c[(i + 1) % 4]) ^ c[(i + 1) % 4] ^ c[(i + 2) % 4] ^ c[(i + 3) % 4]
                     for c in columns for i in range(4)]
        state = [a ^ b for a, b in zip(state, key)]
    return bytes(state)

def seal(platform, key, title, message):
    """`magic|iv|base64`, as Bisq's phone apps read it. Bytes are filled up, not characters."""
    text = json.dumps({"sentDate": time.time_ns() // 10**6, "txId": "", "title": title, "message": message,
                       "type": "TRADE", "actionRequired": "", "version": 1},
                      ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 16)
    iv = os.urandom(8).hex().encode()
    keys, sealed, last = round_keys(key.encode()), b"", iv
    for at in range(0, len(text), 16):
        last = encrypt_block(keys, [a ^ b for a, b in zip(text[at:at + 16], last)])
        sealed += last
    magic = "BisqMessageAndroid" if platform == "android" else "BisqMessageiOS"
    return f"{magic}|{iv.decode()}|{base64.b64encode(sealed).decode()}"

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", required=True, metavar="ADDRESS")
    parser.add_argument("--socks", default="127.0.0.1:9050")
    parser.add_argument("--title", default="Hello")
    parser.add_argument("--message", default="from a peer")
    options = parser.parse_args()
    sections = sys.stdin.readline().strip().split("|")
    if len(sections) != 4 or sections[0] not in PLATFORMS or len(sections[2].encode()) != 32:
        print("no pairing token on standard input: magic|descriptor|key of 32 bytes|device token", file=sys.stderr)
        return 64
    platform, _, key, token = sections
    uid = os.urandom(16).hex()  # the same on every try: the phone is not rung twice
    request = b"".join([
        field(1, uid), field(3, PLATFORMS[platform]), field(5, token),
        field(6, seal(platform, key, options.title, options.message)),
        field(7, 1), field(8, 1), field(10, 1), field(12, 1)])  # urgent, sound, content-available, await_outcome
    handed = False  # whether the node may have it
    for attempt in range(5):
        wait = 2 ** attempt
        try:
            peer = Peer(options.to, options.socks)
            peer.send(REQUEST, request)
            before, handed = handed, True
            while True:
                envelope = peer.receive()
                if CLOSE in envelope:
                    reason = fields(envelope[CLOSE]).get(1, b"").decode(errors="replace")
                    raise (Never if reason in FINAL_REASONS else ConnectionError)(f"closed: {reason}")
                answer = fields(envelope.get(RESPONSE, b""))
                if answer.get(1) != uid.encode():
                    continue
                status = ANSWERS.get(answer.get(2), "unknown answer")
                if status == "busy":
                    handed = before
                    wait = answer.get(4, 0) / 1000
                    raise ConnectionError(f"the node is busy for {wait:.1f} s")
                print(status, answer.get(3, b"").decode(), flush=True)
                if status != "stored":
                    return 0 if status == "delivered" else 1
        except Never as error:
            print(f"given up: {error}", file=sys.stderr)
            return 1
        except (OSError, ValueError) as error:  # the second: what answers there speaks otherwise
            print(f"not yet: {error}", file=sys.stderr)
            time.sleep(min(wait, 30))
    return 3 if handed else 75
if __name__ == "__main__":
    sys.exit(main())
