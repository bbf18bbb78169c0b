#!/usr/bin/python3
"""A Status client and a sending contact, written from the protocol alone: nothing of Onionbell is in here.

    status.py SERVER KEY [--socks HOST:PORT] [--topic TOPIC] [--rounds N]

SERVER is stream://HOST:PORT or http(s)://HOST[:PORT]; KEY the server's public key, 66 hex digits. The client registers
two phones, a contact asks for them and sends; then the phones unregister. Says each step, and exits 1 at the first
answer that is not what the protocol asks for. Needs python3-ecdsa, python3-pycryptodome, and with --socks python3-socks.
"""

import argparse
import hashlib
import os
import socket
import ssl
import struct
import sys
import urllib.parse
import uuid
from http.client import HTTPConnection, HTTPSConnection

from Cryptodome.Cipher import AES
from Cryptodome.Hash import SHAKE256, keccak
from ecdsa import SECP256k1, SigningKey, VerifyingKey
from ecdsa.util import sigdecode_string, sigencode_string_canonize

REGISTRATION, REGISTRATION_RESPONSE, QUERY, QUERY_RESPONSE, REQUEST, RESPONSE = range(16, 22)
MESSAGE, MENTION = 1, 2


def keccak256(data):
    return keccak.new(digest_bits=256, data=data).digest()


def shake256(data):
    return SHAKE256.new(data).read(64)


# Keys and signatures


def compressed(public):
    return public.to_string("compressed")


def sign(key, digest):
    signature = key.sign_digest_deterministic(digest, hashlib.sha256, sigencode_string_canonize)
    for recovery in (0, 1):
        if recover(signature + bytes([recovery]), digest) == compressed(key.verifying_key):
            return signature + bytes([recovery])
    raise ValueError("a signature that recovers to nobody")


def recover(signature, digest):
    keys = VerifyingKey.from_public_key_recovery_with_digest(
        signature[:64], digest, SECP256k1, sigdecode=sigdecode_string
    )
    # The library orders the two candidates by the oddness of R's y, which is what V says.
    return compressed(keys[signature[64]])


def shared_x(key, public):
    point = public.pubkey.point * key.privkey.secret_multiplier
    return int(point.x()).to_bytes(32, "big")


def seal(key, plain):
    cipher = AES.new(key, AES.MODE_GCM, nonce=os.urandom(12))
    text, tag = cipher.encrypt_and_digest(plain)
    return cipher.nonce + text + tag


def unseal(key, sealed):
    return AES.new(key, AES.MODE_GCM, nonce=sealed[:12]).decrypt_and_verify(sealed[12:-16], sealed[-16:])


# Protobuf


def varint(value):
    encoded = b""
    while value >= 0x80:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def field(number, value):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value if value else b""
    return varint(number << 3) + varint(int(value)) if value else b""


def fields(data):
    def number():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    position, found = 0, {}
    while position < len(data):
        tag = number()
        value = number()
        if tag & 7 == 2:
            position, value = position + value, data[position : position + value]
        found.setdefault(tag >> 3, []).append(value)
    return found


def message(key, kind, payload):
    return field(1, sign(key, keccak256(payload))) + field(2, payload) + field(3, kind)


# The server


class Stream:
    """A length of four bytes, then the message."""

    def __init__(self, connection):
        self.connection = connection

    def ask(self, sent):
        self.connection.sendall(struct.pack(">I", len(sent)) + sent)
        return self.read(struct.unpack(">I", self.read(4))[0])

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise EOFError("the server has closed")
            data += part
        return data


class HTTP:
    def __init__(self, connection):
        self.connection = connection

    def ask(self, sent):
        self.connection.request(
            "POST", "/status/v1/message", sent, {"Content-Type": "application/octet-stream"}
        )
        answer = self.connection.getresponse()
        body = answer.read()
        check(answer.status == 200, f"HTTP {answer.status}")
        return body


def connect(url, socks_proxy):
    host, port = url.hostname, url.port or {"stream": 9998, "http": 80, "https": 443}[url.scheme]
    if socks_proxy:
        import socks

        proxy_host, proxy_port = socks_proxy.rsplit(":", 1)
        connection = socks.socksocket()
        connection.set_proxy(socks.SOCKS5, proxy_host, int(proxy_port), rdns=True)
        connection.settimeout(120)
        connection.connect((host, port))
    else:
        connection = socket.create_connection((host, port), timeout=60)
    if url.scheme == "stream":
        return Stream(connection)
    http = (HTTPSConnection if url.scheme == "https" else HTTPConnection)(host, port)
    if url.scheme == "https":
        # SSL_CERT_FILE names another authority.
        connection = ssl.create_default_context().wrap_socket(connection, server_hostname=host)
    http.sock = connection
    return HTTP(http)


def check(is_right, problem):
    if not is_right:
        sys.exit(f"status.py: {problem}")


class Server:
    def __init__(self, carrier, key):
        self.carrier = carrier
        self.key = key

    def ask(self, key, kind, payload):
        """The payload of the answer, and the id of the message."""
        sent = message(key, kind, payload)
        answer = fields(self.carrier.ask(sent))
        signed = answer.get(2, [b""])[0]
        check(answer[3] == [kind + 1], f"an answer of type {answer[3]} to {kind}")
        check(recover(answer[1][0], keccak256(signed)) == self.key, "an answer of another server")
        return signed, keccak256(key.verifying_key.to_string("uncompressed") + sent)


# The parties


class Client:
    """Somebody with one or more phones."""

    def __init__(self):
        self.key = SigningKey.generate(SECP256k1)
        self.access_token = str(uuid.uuid4())
        self.version = 0

    @property
    def hash(self):
        return shake256(compressed(self.key.verifying_key))

    def text(self):
        return "0x" + self.key.verifying_key.to_string("uncompressed").hex()

    def grant(self, server):
        return sign(
            self.key,
            keccak256(compressed(self.key.verifying_key) + server.key + self.access_token.encode()),
        )

    def register(self, server, installation, *rest):
        self.version += 1
        registration = field(3, installation) + field(6, self.version) + b"".join(rest)
        public = VerifyingKey.from_string(server.key, SECP256k1)
        sealed = seal(shared_x(self.key, public), registration)
        answer = fields(server.ask(self.key, REGISTRATION, sealed)[0])
        check(answer[3] == [shake256(sealed)], "an answer to another registration")
        return answer.get(1, [0]) == [1], answer.get(2, [0])[0]

    def register_phone(self, server, installation, kind, device_token, topic, *rest):
        return self.register(
            server, installation, field(1, kind), field(2, device_token), field(4, self.access_token),
            field(5, 1), field(10, self.grant(server)), field(12, topic), *rest,
        )


def query(server, who):
    """By a key that is thrown away."""
    answer, identity = server.ask(SigningKey.generate(SECP256k1), QUERY, field(1, who.hash))
    answer = fields(answer)
    check(answer[2] == [identity], "an answer to another query")
    return [fields(info) for info in answer.get(1, [])]


def push(server, who, infos, author, kind=MESSAGE, key=None, identity=None, token=None):
    identity = identity or os.urandom(32)
    payload = b"".join(
        field(
            1,
            field(1, token or info[1][0]) + field(2, shake256(author.text().encode())) + field(3, who.hash)
            + field(4, info[2][0]) + field(6, kind) + field(7, shake256(author.text().encode())),
        )
        for info in infos
    ) + field(2, identity)
    answer = fields(server.ask(key or SigningKey.generate(SECP256k1), REQUEST, payload)[0])
    check(answer[1] == [identity], "an answer to another request")
    reports = [fields(report) for report in answer.get(2, [])]
    return ["ok" if report.get(1) == [1] else f"error {report.get(2, [0])[0]}" for report in reports]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("key")
    parser.add_argument("--socks")
    parser.add_argument("--topic", default="im.status.ethereum")
    parser.add_argument("--rounds", type=int, default=1, help="how often the contact sends")
    options = parser.parse_args()
    server = Server(connect(urllib.parse.urlsplit(options.server), options.socks), bytes.fromhex(options.key))
    client, contact = Client(), Client()
    iphone, android = str(uuid.uuid4()), str(uuid.uuid4())

    print("registers a phone with Apple's token, and one with Google's")
    blocked = field(8, shake256(b"a blocked chat"))
    taken = client.register_phone(server, iphone, 1, os.urandom(32).hex(), options.topic, blocked)
    check(taken == (True, 0), f"the registration was refused: {taken}")
    google_token = "-s9tPMEgv1TOOp1qjKEzNe:APA91b" + os.urandom(60).hex()
    taken = client.register_phone(server, android, 2, google_token, "")
    check(taken == (True, 0), f"the registration was refused: {taken}")
    client.version -= 1
    check(client.register(server, android, field(9, 1)) == (False, 2), "an old version was taken")

    print("asks for them, as a contact that knows the key only")
    infos = query(server, client)
    check([info[2][0].decode() for info in infos] == [iphone, android], f"{len(infos)} phones were found")
    for info in infos:
        digest = keccak256(compressed(client.key.verifying_key) + server.key + info[1][0])
        check(recover(info[5][0], digest) == compressed(client.key.verifying_key), "a grant of another")
    check(query(server, contact) == [], "a phone of somebody who has none")

    print("sends to both")
    for _ in range(options.rounds):
        check(push(server, client, infos, contact) == ["ok", "ok"], "the push was refused")
    print("sends one message twice, and with a wrong token, and a mention in a chat not joined")
    key, identity = SigningKey.generate(SECP256k1), os.urandom(32)
    for _ in range(2):
        reports = push(server, client, infos[:1], contact, key=key, identity=identity)
        check(reports == ["ok"], f"the push was refused: {reports}")
    reports = push(server, client, infos[:1], contact, token=str(uuid.uuid4()))
    check(reports == ["error 1"], f"a wrong token: {reports}")
    check(push(server, client, infos[:1], contact, kind=MENTION) == ["ok"], "a mention was not taken")

    print("unregisters both")
    for installation in (iphone, android):
        check(client.register(server, installation, field(9, 1)) == (True, 0), "unregistering was refused")
    check(query(server, client) == [], "a phone that was unregistered")
    reports = push(server, client, infos, contact)
    check(reports == ["error 3", "error 3"], f"unregistered phones: {reports}")
    # What one sees of the phones is told by the gateways.
    print(f"done: {2 * options.rounds + 1} pushes are on their way")


if __name__ == "__main__":
    main()
