#!/usr/bin/env python3
"""Makes reply-vectors.json: the way back, written after WireFormat.md with the package `cryptography` and nothing of ours.

    python3 reply-vectors.py >reply-vectors.json
"""
import base64
import json
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

SALT = b"Onionbell replies 1"
NOW = 1_790_000_000_000
KEYS = {"one": "0123456789abcdef0123456789ABCDEF", "another": "zY8+/wVuTsRqPoNmLkJiHgFeDcBa0987"}
DIRECTIONS = ["to-bisq", "to-phone"]


def derived(key, info, length):
    hkdf = HKDF(algorithm=hashes.SHA256(), length=length, salt=SALT, info=info.encode())
    return hkdf.derive(key.encode())


def plain(counter, sent, kind, text, block=256, tail=b""):
    kind, text = kind.encode(), text.encode()
    head = struct.pack(">QQB", counter, sent, len(kind)) + kind + struct.pack(">H", len(text)) + text + tail
    return head + bytes(-len(head) % block)


def seal(key, direction, plain, nonce, version=1):
    cipher = AESGCM(derived(key, direction + " key", 32))
    return bytes([version]) + nonce + cipher.encrypt(nonce, plain, bytes([version]))


def nonce(number):
    return hashes_of(f"nonce {number}")[:12]


def hashes_of(text):
    digest = hashes.Hash(hashes.SHA256())
    digest.update(text.encode())
    return digest.finalize()


# An answer's channel has the counter of what is answered.
channels = [
    {
        "key": key,
        "direction": direction,
        "answering": counter,
        "id": base64.urlsafe_b64encode(
            derived(key, direction + " channel" + (f" {counter}" if counter else ""), 24)).decode(),
    }
    for key in KEYS.values()
    for direction, counter in [("to-bisq", None), ("to-phone", 1), ("to-phone", NOW), ("to-phone", 2**63 - 1)]
]

replies = []
for number, (counter, sent, kind, text) in enumerate([
    (1, NOW, "status", ""),
    (NOW, NOW, "stop", "now, please"),
    (2**62, NOW + 1, "a", "Grüße ₿ 🐢"),
    (7, 1, "x" * 32, "y" * 1000),
    (8, NOW, "confirm-payment-2", "f-123" + "z" * 232),
    (9, NOW, "confirm-payment-2", "f-123" + "z" * 215),
]):
    direction = DIRECTIONS[number % 2]
    replies.append({
        "key": KEYS["one"], "direction": direction, "counter": counter, "sentAt": sent, "kind": kind, "text": text,
        "nonce": nonce(number).hex(), "sealed": seal(KEYS["one"], direction, plain(counter, sent, kind, text),
                                                      nonce(number)).hex(),
    })

good = seal(KEYS["one"], "to-bisq", plain(5, NOW, "stop", "text"), nonce(100))


def changed(index):
    return good[:index] + bytes([good[index] ^ 1]) + good[index + 1:]


def forged(text):
    return seal(KEYS["one"], "to-bisq", text, nonce(101))


refused = [
    {"name": name, "sealed": sealed.hex()}
    for name, sealed in [
        ("nothing", b""),
        ("too short for a tag", good[:28]),
        ("the version changed", changed(0)),
        ("the nonce changed", changed(1)),
        ("the first byte of the text changed", changed(13)),
        ("the last byte of the text changed", changed(len(good) - 17)),
        ("the tag changed", changed(len(good) - 1)),
        ("cut by one byte", good[:-1]),
        ("a byte behind it", good + b"\0"),
        ("another key", seal(KEYS["another"], "to-bisq", plain(5, NOW, "stop", "text"), nonce(102))),
        ("the other direction", seal(KEYS["one"], "to-phone", plain(5, NOW, "stop", "text"), nonce(103))),
        ("a later version", seal(KEYS["one"], "to-bisq", plain(5, NOW, "stop", "text"), nonce(104), version=2)),
        ("counter 0", forged(plain(0, NOW, "stop", ""))),
        ("counter of 64 bits", forged(plain(2**63, NOW, "stop", ""))),
        ("sent at 0", forged(plain(5, 0, "stop", ""))),
        ("no kind", forged(plain(5, NOW, "", ""))),
        ("a kind of 33", forged(plain(5, NOW, "x" * 33, ""))),
        ("capitals in the kind", forged(plain(5, NOW, "Stop", ""))),
        ("a path for a kind", forged(plain(5, NOW, "../stop", ""))),
        ("text of 1,001 bytes", forged(plain(5, NOW, "stop", "y" * 1001))),
        ("a zero byte in the text", forged(plain(5, NOW, "stop", "a\0b"))),
        ("a line feed in the text", forged(plain(5, NOW, "stop", "a\nb"))),
        ("text that is not UTF-8", forged(struct.pack(">QQB", 5, NOW, 1) + b"x" + struct.pack(">H", 1) + b"\xff"
                                           + bytes(235))),
        ("text that is longer than all", forged(struct.pack(">QQB", 5, NOW, 1) + b"x" + struct.pack(">H", 900)
                                                 + bytes(236))),
        ("not filled up", forged(plain(5, NOW, "stop", "text", block=1))),
        ("filled with something", forged(plain(5, NOW, "stop", "text", tail=b"\1"))),
        ("filled up twice", forged(plain(5, NOW, "stop", "text", block=512))),
        ("too long", forged(plain(5, NOW, "stop", "text", block=1536))),
    ]
]

MINUTE = 60_000
# Each step: counter, when it was sent, when it is taken, and what becomes of it; one after the other.
windows = [
    {"name": name, "since": since, "steps": [dict(zip(["counter", "sentAt", "now", "fault"], step)) for step in steps]}
    for name, since, steps in [
        ("in order", 0, [(1, NOW, NOW, None), (2, NOW, NOW + 1, None), (9, NOW, NOW + 2, None)]),
        ("the same again", 0, [(1, NOW, NOW, None), (1, NOW, NOW + 1, "replayed"), (2, NOW, NOW + 2, None)]),
        ("reordered", 0, [(2, NOW, NOW, None), (1, NOW, NOW, "replayed"), (3, NOW, NOW, None)]),
        ("the last moment, and one later", 0,
         [(1, NOW, NOW + 10 * MINUTE - 1, None), (2, NOW, NOW + 10 * MINUTE, "expired"), (3, NOW, NOW, None)]),
        ("a clock that is ahead", 0,
         [(1, NOW + 2 * MINUTE, NOW, None), (2, NOW + 2 * MINUTE + 1, NOW, "from_the_future"), (3, NOW, NOW, None)]),
        ("a counter that is ahead", 0,
         [(NOW + 2 * MINUTE + 1, NOW, NOW, "from_the_future"), (NOW + 2 * MINUTE, NOW, NOW, None),
          (2**63 - 1, NOW, NOW, "from_the_future"), (NOW + 2 * MINUTE + 1, NOW + 1, NOW, None)]),
        ("a refused one changes nothing", 0, [(9, NOW - 10 * MINUTE, NOW, "expired"), (1, NOW, NOW, None)]),
        ("before the agent was there", NOW, [(1, NOW - 1, NOW + 1, "expired"), (2, NOW, NOW + 1, None)]),
        ("a replay after it has expired", 0, [(1, NOW, NOW, None), (1, NOW, NOW + 10 * MINUTE, "expired")]),
    ]
]

print(json.dumps(
    {"now": NOW, "channels": channels, "replies": replies, "refused": refused, "windows": windows}, indent=1,
    ensure_ascii=False))
