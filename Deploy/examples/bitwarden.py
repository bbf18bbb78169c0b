#!/usr/bin/python3
"""What a self-hosted server asks of its push relay, written from the two servers' sources alone.

    bitwarden.py vaultwarden|official URL [SOCKS-HOST:PORT]

The installation is in the environment: INSTALLATION='{"id":...,"key":...}'. Says each step, and exits 1 at the first
answer that the server would not take; the third argument needs python3-socks. Both send the same things in their own
manner: Vaultwarden with a length, no organizations, and its own way to delete, without body and length; the official
server in chunks, with organizations.
"""

import base64
import json
import os
import sys
import time
import urllib.parse
import uuid
from http.client import HTTPConnection, HTTPSConnection

kind, url = sys.argv[1], urllib.parse.urlsplit(sys.argv[2])
installation = json.loads(os.environ["INSTALLATION"])
is_official = kind == "official"
connection = (HTTPSConnection if url.scheme == "https" else HTTPConnection)(url.hostname, url.port, timeout=30)
if len(sys.argv) > 3:
    import socks

    host, port = sys.argv[3].rsplit(":", 1)
    connection._create_connection = lambda address, timeout, source: socks.create_connection(
        address, timeout, proxy_type=socks.SOCKS5, proxy_addr=host, proxy_port=int(port)
    )
user, organization = str(uuid.uuid4()), str(uuid.uuid4())
token = None


def ask(method, path, body=None, want=200):
    headers = {"Authorization": "Bearer " + token} if token else {}
    data = None
    if isinstance(body, str):
        data, headers["Content-Type"] = body.encode(), "application/x-www-form-urlencoded"
    elif body is not None:
        data, headers["Content-Type"] = json.dumps(body, ensure_ascii=False).encode(), "application/json; charset=utf-8"
        if is_official:
            # .NET sends JSON without a length.
            data = iter([data[:10], data[10:]])
            headers["Transfer-Encoding"] = "chunked"
    begun = time.monotonic()
    if data is None:
        # Both leave out the length of a body that is not there; http.client would write one.
        connection.putrequest(method, path)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
    else:
        connection.request(method, path, data, headers, encode_chunked="Transfer-Encoding" in headers)
    answer = connection.getresponse()
    text = answer.read()
    print(f"  {method} {path}: {answer.status} after {1000 * (time.monotonic() - begun):.0f} ms")
    if answer.status != want:
        print(text.decode(), file=sys.stderr)
        sys.exit(1)
    return json.loads(text) if text else None


def say(text):
    time.sleep(0.2)  # for the pushes of the step before to be printed
    print("\n==", kind + ":", text, flush=True)


def form(key):
    return urllib.parse.urlencode(
        {
            "grant_type": "client_credentials",
            "scope": "api.push",
            "client_id": "installation." + installation["id"],
            "client_secret": key,
        }
    )


say("a wrong key gets no token")
error = ask("POST", "/connect/token", form(installation["key"] + "x"), want=400)
assert error["error"] == "invalid_client", error

say("the right one gets a token")
answer = ask("POST", "/connect/token", form(installation["key"]))
token = answer["access_token"]
assert answer["expires_in"] == 86400 and answer["token_type"] == "Bearer"
middle = token.split(".")[1]
claims = json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))
assert 86300 < claims["exp"] - time.time() < 86500, claims

say("two phones of one user are registered")
phones = {1: os.urandom(32).hex(), 0: "fcm" + ":" + base64.urlsafe_b64encode(os.urandom(60)).decode().rstrip("=")}
devices = {}
for type, push_token in phones.items():
    devices[type] = {
        "deviceId": str(uuid.uuid4()),
        "pushToken": push_token,
        "userId": user,
        "type": type,
        "identifier": str(uuid.uuid4()),
        "installationId": installation["id"],
    }
    if is_official:
        devices[type]["organizationIds"] = [organization]
    ask("POST", "/push/register", devices[type])


def send(type, payload, **target):
    body = {"userId": None, "organizationId": None, "deviceId": None, "identifier": None, "clientType": None}
    ask("POST", "/push/send", body | {"type": type, "payload": payload, "installationId": None} | target)


now = "2026-02-15T04:11:42.123456Z"
say("an entry was changed on the iPhone: the other phone hears of it")
cipher = {"id": str(uuid.uuid4()), "userId": user, "organizationId": None, "collectionIds": None, "revisionDate": now}
send(0, cipher, userId=user, deviceId=devices[1]["deviceId"], identifier=devices[1]["identifier"])
say("all are logged out")
send(11, {"userId": user, "reason": None} if is_official else {"userId": user, "date": now}, userId=user)
if is_official:
    say("something for a whole organization")
    send(18, {"organizationId": organization, "enabled": True}, organizationId=organization)
    ask(
        "PUT",
        "/push/delete-organization",
        {"devices": [{"id": device["deviceId"]} for device in devices.values()], "organizationId": organization},
    )
    send(18, {"organizationId": organization, "enabled": False}, organizationId=organization)

say("the iPhone is logged out for good")
if is_official:
    ask("POST", "/push/delete", {"id": devices[1]["deviceId"]})
else:
    ask("POST", "/push/delete/" + devices[1]["deviceId"])
send(5, {"userId": user, "date": now}, userId=user)
