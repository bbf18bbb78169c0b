"""The other end of the page, written from the formats alone: Bisq 1, Bisq 2, and a Web Push sender."""

import base64
import json
import os
import re
import time

import http_ece
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

now = int(time.time() * 1000)


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point_of(private):
    return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def vapid_key():
    return base64url(point_of(ec.generate_private_key(ec.SECP256R1())))


def message(kind="TRADE", title="", text="", trade="", sent=now):
    return {
        "sentDate": sent,
        "txId": trade,
        "title": title,
        "message": text,
        "type": kind,
        "actionRequired": "",
        "version": 1,
    }


def bisq1(key, content):
    """AES-256-CBC, filled with blanks by bytes."""
    plain = (
        content
        if isinstance(content, bytes)
        else json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    )
    plain += b" " * (-len(plain) % 16)
    iv = os.urandom(8).hex()
    encryptor = Cipher(algorithms.AES(key.encode()), modes.CBC(iv.encode())).encryptor()
    return f"BisqMessageAndroid|{iv}|{base64.b64encode(encryptor.update(plain) + encryptor.finalize()).decode()}"


def forged(key, block):
    """What somebody without the key makes of a message that passes by: its first block is another one. In one of thirty
    messages the new IV is printable, as it has to be."""
    while True:
        _, iv, sealed = bisq1(key, message("TRADE", "passes by")).split("|")
        first = f'{{"sentDate":{now}'.encode()[:16]
        changed = bytes(a ^ b ^ c for a, b, c in zip(iv.encode(), first, block))
        if all(0x21 <= byte <= 0x7E and byte != ord("|") for byte in changed):
            cut = base64.b64encode(base64.b64decode(sealed)[:16]).decode()
            return f"BisqMessageAndroid|{changed.decode()}|{cut}"


def bisq2(key, content):
    """AES-256-GCM under the key's 32 characters as bytes."""
    nonce = os.urandom(12)
    sealed = AESGCM(key.encode()).encrypt(nonce, json.dumps(content).encode(), None)
    return base64.b64encode(nonce + sealed).decode()


def opened_token(text):
    """A strict decoder of `wp1:`: {endpoint, point, auth}."""
    assert len(text) <= 1024 and re.fullmatch(r"wp1:[A-Za-z0-9._:-]+::[A-Za-z0-9_-]{66}", text), text
    escaped, keys = text[4:].rsplit("::", 1)
    endpoint = re.sub(r":([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), escaped)
    assert escaped == re.sub(r"[^A-Za-z0-9._-]", lambda match: f":{ord(match[0]):02X}", endpoint)
    keys = from_base64url(keys)
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), keys[:33])
    return {
        "endpoint": "https://" + endpoint,
        "point": point.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint),
        "auth": keys[33:],
    }


def sealed_push(subscription, text):
    """RFC 8291, by http_ece."""
    return http_ece.encrypt(
        text.encode(),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=subscription["point"],
        auth_secret=subscription["auth"],
        version="aes128gcm",
        rs=4096,
    )


def padded_push(subscription, text, length=1024):
    """The same, padded so that a push service learns no length. http_ece pads nothing, so this is by hand."""
    private = ec.generate_private_key(ec.SECP256R1())
    point, salt = point_of(private), os.urandom(16)
    shared = private.exchange(
        ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), subscription["point"])
    )
    derived = lambda salt, key, info, size: HKDF(hashes.SHA256(), size, salt, info).derive(key)
    secret = derived(subscription["auth"], shared, b"WebPush: info\0" + subscription["point"] + point, 32)
    key = derived(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = derived(salt, secret, b"Content-Encoding: nonce\0", 12)
    plain = (text.encode() + b"\2").ljust(length, b"\0")
    return salt + (4096).to_bytes(4, "big") + b"A" + point + AESGCM(key).encrypt(nonce, plain, None)
