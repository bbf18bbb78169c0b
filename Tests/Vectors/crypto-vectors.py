#!/usr/bin/env python3
"""Makes crypto-vectors.json: the edges that Project Wycheproof looks at, written anew with the package `cryptography`.

    python3 crypto-vectors.py >crypto-vectors.json

Bytes are hex digits. What has no result is to be refused.
"""
import hashlib
import json

from cryptography.hazmat.primitives import hashes, hmac, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, x25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

counter = 0


def some(count):
    """Bytes that look random, and are the same at each run."""
    global counter
    counter += 1
    return hashlib.shake_128(b"onionbell %d" % counter).digest(count)


def number(value, count=32):
    return value.to_bytes(count, "big")


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def gcm():
    cases = []
    for count in [0, 1, 12, 15, 16, 17, 31, 32, 33, 64, 255]:
        key, nonce, associated, text = some(32), some(12), some(count % 20), some(count)
        sealed = AESGCM(key).encrypt(nonce, text, associated)
        cases.append([key, nonce, associated, sealed, text])
        for bit in [-1, -8, -64, -65, -127, -128]:
            cases.append([key, nonce, associated, flipped(sealed, len(sealed) * 8 + bit), None])
        cases += [[key, nonce, associated, sealed[:-size], None] for size in [1, 4, 15, 16]]
        cases.append([key, nonce, associated, sealed[:-16] + bytes(16), None])
        cases.append([key, nonce, associated, sealed[:-16] + b"\xff" * 16, None])
        cases.append([key, flipped(nonce, 3), associated, sealed, None])
        cases.append([key, nonce, associated + b"\0", sealed, None])
        cases.append([flipped(key, 77), nonce, associated, sealed, None])
        cases.append([key[:16], nonce, associated, sealed, None])
        cases += [[key, part, associated, sealed, None] for part in [b"", nonce[:8], nonce + b"\0" * 4]]
    # A counter that wraps within its 32 bits: the nonces of the special cases are those of 12 bytes full of ones.
    key, nonce, text = b"\xff" * 32, b"\xff" * 12, some(80)
    cases.append([key, nonce, b"", AESGCM(key).encrypt(nonce, text, b""), text])
    return cases


def cbc():
    cases = []
    for blocks in [0, 1, 2, 16]:
        key, iv, text = some(32), some(16), some(16 * blocks)
        cipher = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
        sealed = cipher.update(text) + cipher.finalize()
        cases.append([key, iv, sealed, text])
        cases += [[key, iv, sealed + b"\0" * size, None] for size in [1, 15]]
        cases += [[key, iv[:-1], sealed, None], [key[:16], iv, sealed, None], [key + b"\0", iv, sealed, None]]
    return cases


def mac():
    cases = []
    for size in [1, 16, 31, 32, 63, 64, 65, 128, 200]:
        for count in [0, 1, 55, 56, 63, 64, 65, 119, 200]:
            key, text = some(size), some(count)
            one = hmac.HMAC(key, hashes.SHA256())
            one.update(text)
            cases.append([key, text, one.finalize()])
    return cases


def hkdf():
    cases = []
    for secret in [0, 1, 16, 32, 65]:
        for salt in [0, 1, 16, 64, 80]:
            for info, length in [(0, 32), (1, 16), (32, 12), (145, 1)]:
                parts = [some(secret), some(salt), some(info)]
                key = HKDF(hashes.SHA256(), length, parts[1], parts[2]).derive(parts[0])
                cases.append(parts + [length, key])
    return cases


def raw(key):
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def x25519_keys():
    secrets = [bytes(32), b"\xff" * 32, number(1)[::-1], b"\x08" + bytes(31), bytes(31) + b"\x40", bytes(31) + b"\x80"]
    secrets += [some(32) for _ in range(30)]
    return [[one, raw(x25519.X25519PrivateKey.from_private_bytes(one).public_key())] for one in secrets]


def ed25519_keys():
    seeds = [bytes(32), b"\xff" * 32] + [some(32) for _ in range(60)]
    return [[one, raw(ed25519.Ed25519PrivateKey.from_private_bytes(one).public_key())] for one in seeds]


def encoded(key, form):
    return key.public_bytes(serialization.Encoding.X962, form)


FORMS = [serialization.PublicFormat.UncompressedPoint, serialization.PublicFormat.CompressedPoint]


def wrong_points(curve, prime, b, a):
    """Each looks like a point and is none."""
    x, y = (number(part) for part in numbers(ec.generate_private_key(curve)))
    off = next(candidate for candidate in range(1, 99) if not is_square(candidate, prime, a, b))
    whole = b"\x04" + x + y
    return [
        b"", b"\0", b"\x04", b"\0" * 65, whole[:-1], whole + b"\0", whole[1:], b"\x05" + x + y, b"\x06" + x + y,
        b"\x07" + x + y, b"\x02" + x + y, b"\x04" + x, b"\x04" + y + x, flipped(whole, 8), flipped(whole, 519),
        b"\x04" + bytes(64), b"\x04" + number(prime) + y, b"\x04" + x + number(prime), b"\x04" + b"\xff" * 64,
        b"\x02" + number(off), b"\x03" + number(off), b"\x02" + number(prime + 5 if prime + 5 < 2**256 else prime),
        b"\x02" + b"\xff" * 32, b"\x04" + x + number((prime - int.from_bytes(y, "big") + 1) % prime),
    ]


def numbers(key):
    public = key.public_key().public_numbers()
    return public.x, public.y


def is_square(x, prime, a, b):
    square = (x**3 + a * x + b) % prime
    return square == 0 or pow(square, (prime - 1) // 2, prime) == 1


P256 = (ec.SECP256R1(), 2**256 - 2**224 + 2**192 + 2**96 - 1,
        0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B, -3)
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
K256 = (ec.SECP256K1(), 2**256 - 2**32 - 977, 7, 0)
K256_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def secrets(order):
    return [1, 2, 3, order - 1, order - 2, order // 2, 2**255 - 1 if 2**255 < order else 5] + [
        int.from_bytes(some(32), "big") % (order - 1) + 1 for _ in range(24)]


def exchanges(curve, order, pem):
    """A secret, a point in one of its two forms, and the first coordinate of the common point."""
    own = ec.derive_private_key(int.from_bytes(some(32), "big") % (order - 1) + 1, curve)
    cases, leading = [], 0
    wanted = secrets(order)
    while wanted or leading < 2:
        other = ec.derive_private_key(
            wanted.pop() if wanted else int.from_bytes(some(32), "big") % (order - 1) + 1, curve)
        shared = own.exchange(ec.ECDH(), other.public_key())
        # Zeros in front are kept.
        if shared[0] == 0:
            leading += 1
        elif not wanted and len(cases) > 60:
            continue
        cases += [[encoded(other.public_key(), form), shared] for form in FORMS]
    if pem:
        text = own.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return {"key": text.decode(), "cases": cases}
    return {"key": number(own.private_numbers().private_value), "cases": cases}


def recoveries():
    """Digest, signature as R, S and V, and the signer; a signature with S turned round is another good one."""
    cases = []
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
    for secret in secrets(K256_ORDER)[:12]:
        key, digest = ec.derive_private_key(secret, K256[0]), some(32)
        r, s = decode_dss_signature(key.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256()))))
        cases.append([digest, number(r) + number(s), encoded(key.public_key(), FORMS[0])])
        cases.append([digest, number(r) + number(K256_ORDER - s), encoded(key.public_key(), FORMS[0])])
        for bad in [(0, s), (r, 0), (K256_ORDER, s), (r, K256_ORDER), (2**256 - 1, s), (r, 2**256 - 1), (0, 0)]:
            cases.append([digest, number(bad[0]) + number(bad[1]), None])
    return cases


def text(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [text(part) for part in value]
    if isinstance(value, dict):
        return {name: text(part) for name, part in value.items()}
    return value


tables = {
    "gcm": gcm(), "cbc": cbc(), "hmac": mac(), "hkdf": hkdf(), "x25519": x25519_keys(), "ed25519": ed25519_keys(),
    "p256": exchanges(P256[0], P256_ORDER, True), "p256 wrong": wrong_points(*P256),
    "secp256k1": exchanges(K256[0], K256_ORDER, False), "secp256k1 wrong": wrong_points(*K256),
    "secp256k1 recovery": recoveries(),
}
print("{" + ",\n".join(
    json.dumps(name) + ": " + (
        "[\n" + ",\n".join(json.dumps(one) for one in text(table)) + "]" if isinstance(table, list)
        else json.dumps(text(table))) for name, table in tables.items()) + "}")
