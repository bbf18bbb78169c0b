#!/usr/bin/python3
"""A Mastodon server and a Mastodon app, as far as Web Push is concerned: nothing of Onionbell is in here.

    web-push.py subscribe FILE                    the app makes its keys; FILE holds the subscription
    web-push.py push FILE ENDPOINT TEXT [options] the server pushes a text, encrypted and signed by pywebpush
    web-push.py open FILE                         reads pushes (JSON, one a line) and prints what the app shows

`open` is written from RFC 8291, RFC 8188 and draft-ietf-webpush-encryption-04 alone. `push` prints the status of the
answer and what became of the message, as its Location says. Needs pywebpush (PyPI).
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import struct
import sys
import time
import urllib.parse

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def to_base64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_base64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def from_z85(text):
    data = b""
    for start in range(0, len(text), 5):
        group = text[start : start + 5]
        value = 0
        for digit in group:
            value = value * 85 + DIGITS.index(digit)
        data += value.to_bytes(len(group) - 1, "big")
    return data


def hkdf(salt, secret, info, length):
    key = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(key, info + b"\1", hashlib.sha256).digest()[:length]


def public_bytes(key):
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def subscribe(arguments):
    key = ec.generate_private_key(ec.SECP256R1())
    subscription = {
        "p256dh": to_base64(public_bytes(key.public_key())),
        "auth": to_base64(os.urandom(16)),
        "private": "%064x" % key.private_numbers().private_value,
    }
    with open(arguments.file, "w") as file:
        json.dump(subscription, file)


def push(arguments):
    import requests
    from py_vapid import Vapid
    from pywebpush import WebPusher

    with open(arguments.file) as file:
        keys = json.load(file)
    session = requests.Session()
    session.trust_env = False
    if arguments.socks:
        session.proxies = {"http": "socks5h://" + arguments.socks, "https": "socks5h://" + arguments.socks}
    if arguments.ca:
        session.verify = arguments.ca
    origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(arguments.endpoint))
    server = Vapid()
    server.generate_keys()
    headers = server.sign({"sub": "mailto:admin@mastodon.example", "aud": origin, "exp": int(time.time()) + 3600})
    headers["urgency"] = arguments.urgency
    if arguments.topic:
        headers["topic"] = arguments.topic
    subscription = {
        "endpoint": arguments.endpoint,
        "keys": {"p256dh": keys["p256dh"], "auth": keys["auth"]},
    }
    pusher = WebPusher(subscription, requests_session=session)
    for tries_left in (3, 2, 1, 0):
        try:
            answer = pusher.send(
                arguments.text.encode(),
                headers,
                ttl=arguments.ttl,
                content_encoding=arguments.encoding,
                timeout=120,
            )
            break
        except requests.ConnectionError:
            # Over tor a first try may meet an old descriptor.
            if not arguments.socks or tries_left == 0:
                raise
            time.sleep(2)
    words = [str(answer.status_code)]
    if "location" in answer.headers:
        words.append(session.get(origin + answer.headers["location"], timeout=120).text)
    print(" ".join(words), flush=True)
    if not answer.ok:
        sys.exit(1)


def decrypt(keys, body, sender=None, salt=None):
    """sender and salt: of aesgcm, which has them beside the body."""
    private = ec.derive_private_key(int(keys["private"], 16), ec.SECP256R1())
    receiver = public_bytes(private.public_key())
    is_old = sender is not None
    if not is_old:
        salt, size, length = body[:16], *struct.unpack(">IB", body[16:21])
        sender, body = body[21 : 21 + length], body[21 + length :]
        assert len(body) <= size, "more than one record"
    peer = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
    secret = private.exchange(ec.ECDH(), peer)
    auth = from_base64(keys["auth"])
    if is_old:
        secret = hkdf(auth, secret, b"Content-Encoding: auth\0", 32)
        parts = struct.pack(">H", len(receiver)) + receiver + struct.pack(">H", len(sender)) + sender
        context = b"P-256\0" + parts
        key = hkdf(salt, secret, b"Content-Encoding: aesgcm\0" + context, 16)
        nonce = hkdf(salt, secret, b"Content-Encoding: nonce\0" + context, 12)
        plain = AESGCM(key).decrypt(nonce, body, None)
        return plain[2 + struct.unpack(">H", plain[:2])[0] :].decode()
    secret = hkdf(auth, secret, b"WebPush: info\0" + receiver + sender, 32)
    key = hkdf(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
    nonce = hkdf(salt, secret, b"Content-Encoding: nonce\0", 12)
    return AESGCM(key).decrypt(nonce, body, None).rstrip(b"\0")[:-1].decode()


def shown(keys, payload):
    """What an app makes of Apple's payload or of Google's message."""
    payload = payload.get("message", payload)
    data = payload.get("data", payload)
    if "m" in data:
        old = [from_base64(data["k"]), from_base64(data["s"])] if data["e"] == "aesgcm" else []
        return decrypt(keys, from_base64(data["m"]), *old), data["i"]
    old = [from_z85(data["k"]), from_z85(data["s"])] if "k" in data else []
    return decrypt(keys, from_z85(data["p"]), *old), data.get("x", "-")


def open_pushes(arguments):
    with open(arguments.file) as file:
        keys = json.load(file)
    for line in sys.stdin:
        if not line.strip().startswith("{"):
            print(line, end="", flush=True)
            continue
        text, account = shown(keys, json.loads(line))
        print("app of %s shows: %s" % (account, text), flush=True)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for name, function in [("subscribe", subscribe), ("push", push), ("open", open_pushes)]:
        command = commands.add_parser(name)
        command.set_defaults(run=function)
        command.add_argument("file")
        if function is push:
            command.add_argument("endpoint")
            command.add_argument("text")
            command.add_argument("--encoding", choices=["aesgcm", "aes128gcm"], default="aes128gcm")
            command.add_argument("--ttl", type=int, default=172800)
            command.add_argument("--urgency", default="normal")
            command.add_argument("--topic")
            command.add_argument("--socks")
            command.add_argument("--ca")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
