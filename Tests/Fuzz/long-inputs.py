#!/usr/bin/env python3
# Inputs that are run once each: texts of combining marks, which cost Swift's String the square of their length, and
# documents with as many parts as have room, wherever the target has a text of a stranger's.
#
#   long-inputs.py TARGET DIRECTORY [full]
import json, struct, sys

target, directory = sys.argv[1:3]
marks = lambda count: "\u0300" * (count // 4) + "\u0316" * (count // 4)
ascii = lambda count: "a" * count


def write(name, data):
    with open(f"{directory}/long-{name}", "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def varint(value):
    data = b""
    while value >= 0x80:
        data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
    return data + bytes([value])


def field(number, value):
    data = value if isinstance(value, bytes) else value.encode()
    return varint(number << 3 | 2) + varint(len(data)) + data


def envelope(number, body):
    return b"\x08\x0a" + field(number, body)


for kind, text in [("marks", marks), ("ascii", ascii)]:
    if target == "frame":
        request = lambda number: b"\x18\x01" + field(number, text(60000))
        for number in [1, 4, 5, 6]:
            write(f"{kind}-request-{number}", envelope(1001, request(number)))
            write(f"{kind}-response-{number}", envelope(1002, request(number)))
        address = field(1, field(1, text(60000)))
        for number in [4, 5]:
            write(f"{kind}-sender-{number}", envelope(number, address))
        write(f"{kind}-peer", envelope(5, field(4, field(1, field(1, text(60000))))))
        write(f"{kind}-close", envelope(15, field(1, text(60000))))
        write(f"{kind}-bundle", envelope(43, field(1, envelope(5, field(1, field(1, text(30000))))) * 2))
    if target == "status":
        for number in [2, 3, 4, 12]:
            write(f"{kind}-{number}", field(number, text(60000)))
    if target == "text":
        for number, form in enumerate(["@", "iOS|@|@|@", "android|@ @|@|a", "iPhone @", "BisqMessageiOS|@|@", "@|@|a"]):
            write(f"{kind}-{number}", form.replace("@", text(60000 // form.count("@"))))
    if target == "http":
        for number, form in enumerate(["Expect: @", "Transfer-Encoding: @", "Connection: @,@", "Content-Length: @"]):
            write(f"{kind}-field-{number}", f"POST / HTTP/1.1\r\nHost: a\r\n{form}\r\n\r\n".replace("@", text(6000)))
        write(f"{kind}-version", f"POST / {text(12000)}\r\n\r\n")
        write(f"{kind}-date", f"Sun, {text(12000)} GMT")
    if target == "json":
        for number, form in enumerate(['{"@":1}', '{"@":1,"@a":1}', '["@"]', '{"a":1,"b":"@"}']):
            write(f"{kind}-{number}", form.replace("@", text(60000 // form.count("@"))))
    if target == "gorush":
        known = ["notif_id", "message", "title", "image", "priority", "topic", "to", "condition", "push_type"]
        known += ["apns_id", "collapse_id", "category", "thread-id", "name", "interruption_level", "sound"]
        for platform in [1, 2]:
            element = {"tokens": ["a"], "platform": platform}
            for name in known:
                write(f"{kind}-{name}-{platform}", json.dumps({"notifications": [element | {name: text(60000)}]}, ensure_ascii=False))
            for name, value in [("Key", {text(30000): 1, text(30000) + "A": 2}), ("tokens", {"tokens": [text(60000)]}),
                ("data", {"data": {text(60000): 1}}), ("android", {"android": {text(30000): 1, "priority": text(30000)}})]:
                write(f"{kind}-{name}-{platform}", json.dumps({"notifications": [element | value]}, ensure_ascii=False))
    if target == "relay":
        for number, form in enumerate(['{"@":1,"encrypted":"a"}', '{"encrypted":"@"}', '{"deviceToken":"@"}', "isAndroid=@&token=a&msg=61", "@=1&isAndroid=1", "@"]):
            write(f"{kind}-{number}", form.replace("@", text(32000)))
    if target == "upstream":
        for number, form in enumerate(['{"errorCode":"@"}', '{"wasAccepted":false,"errorCode":"@","errorMessage":"@"}', '{"@":1}', "@"]):
            write(f"{kind}-{number}", form.replace("@", text(16000 // form.count("@"))))
    if target == "register":
        for number, form in enumerate(['{"requestId":"@","statusCode":1}', '{"@":1}', '{"clientId":"@","sessionId":"@"}', "@"]):
            write(f"{kind}-{number}", form.replace("@", text(60000 // form.count("@"))))
    if target == "reader":
        for number, form in enumerate(['{"event":"@"}', '{"id":"@","time":1,"event":"message","message":"a"}', '{"title":"@","message":"@","txId":"@"}', '{"@":1}']):
            write(f"{kind}-{number}", form.replace("@", text(60000 // form.count("@"))))
    if target == "webpush":
        for number, form in enumerate(["dh=@", "@=1;dh=1", "@", 'dh="@"', "salt=@"]):
            write(f"{kind}-{number}", form.replace("@", text(14000)))
    if target == "bitwarden":
        for number, form in enumerate(['{"@":1}', '{"@":1,"@A":1}', '{"Id":"@","UserId":"@"}', '{"devices":[{"id":"@","@":1}],"organizationId":"@"}']):
            for first in range(5):
                write(f"{kind}-{number}-{first}", bytes([first]) + form.replace("@", text(32000 // form.count("@"))).encode())
        write(f"{kind}-path", b"\5delete/" + text(16000).encode())
        for number, form in enumerate(["@=1", "grant_type=@", "grant_type=client_credentials&client_id=installation.@", "grant_type=client_credentials&client_id=@&scope=@"]):
            write(f"{kind}-form-{number}", b"\6" + form.replace("@", text(32000)).encode())

# As large as the endpoints take them, with as much work for each byte as there can be: for --cost alone.
if len(sys.argv) > 3:
    body = 131072 if target == "status" else 262144
    fill = lambda piece, size=body: piece * (size // len(piece))
    values = lambda piece, count: ",".join([piece] * count)
    texts = {
        "objects": "[%s]" % values('{"":0}', 9999), "arrays": "[%s]" % values("[]", 19999),
        "objects-over": "[%s]" % values('{"":0}', 37000), "numbers": "[%s]" % values("1.5e3", 19999),
        "deep": "[%s]" % values('{"":{"":{"":{"":{"":{"":{"":0}}}}}}}', 2400),
        "keys": "{%s}" % ",".join('"%x":%d' % (number, number) for number in range(19999)),
        "long-keys": "{%s}" % ",".join('"%07x":""' % number for number in range(19000)),
        "strings": "[%s]" % values('"a"', 19999), "long-strings": "[%s]" % values('"aaaaaaaaaaaaaaaaa"', 12000),
        "text": '"%s"' % fill("a", body - 2), "marks": '"%s"' % marks(body - 4), "newlines": '"%s"' % fill("\\n", body - 2),
        "escapes": '"%s"' % fill("\\u0041", body - 2), "accents": '"%s"' % fill("\\u00e9", body - 2),
        "pairs": '"%s"' % fill("\\ud83d\\udd14", body - 2), "digits": fill("1"), "fraction": "0." + fill("1", body - 2),
        "small": "0." + fill("0", body - 3) + "1", "exponent": "1e" + fill("9", body - 2), "space": fill(" "),
        "open": fill("["), "whole": "-" + fill("9", body - 1), "short-escapes": "[%s]" % values('"\\n\\n\\n"', 19999),
    }
    if target == "json":
        for name, text in texts.items():
            write(f"full-{name}", text)
    if target == "gorush":
        for name, text in texts.items():
            if len(text) < body - 60:
                write(f"full-{name}", '{"notifications":[{"tokens":["a"],"platform":2,"message":"m","data":{"a":%s}}]}' % text)
                write(f"full-apple-{name}", '{"notifications":[{"tokens":["a"],"platform":1,"message":"m","data":{"a":%s}}]}' % text)
        write("full-elements", '{"notifications":[%s]}' % values("{}", 19000))
        write("full-nulls", '{"notifications":[%s]}' % values("null", 19000))
        for platform in [1, 2]:
            write(f"full-hundred-{platform}", '{"notifications":[%s]}' % values('{"platform":%d,"tokens":["%s"],"message":"m","data":{%s}}'
                % (platform, "ab" * 32, ",".join('"%x":"v"' % number for number in range(150))), 100))
            write(f"full-tokens-{platform}", '{"notifications":[{"platform":%d,"message":"m","tokens":[%s]}]}' % (platform, values('"%s"' % ("7f" * 29), 4000)))
            write(f"full-apart-{platform}", '{"notifications":[%s]}' % values('{"platform":%d,"message":"m","tokens":[%s]}' % (platform, values('"%s"' % ("7f" * 28), 40)), 100))
    if target == "bitwarden":
        for name, text in texts.items():
            for first in [0, 2, 4]:
                write(f"full-{name}-{first}", bytes([first]) + ('{"payload":%s}' % text[:1]).encode() if len(text) > 32700 else bytes([first]) + ('{"type":1,"payload":{"a":%s}}' % text).encode())
        write("full-devices", b"\2" + ('{"devices":[%s],"organizationId":"b"}' % values('{"id":"a"}', 2900)).encode())
        write("full-escapes", b"\4" + ('{"type":1,"userId":"075c56fa-b994-4e01-af0c-917dc0bf216b","payload":{"a":"%s"}}' % fill("\\u0041", 32600)).encode())
        write("full-newlines", b"\4" + ('{"type":1,"userId":"075c56fa-b994-4e01-af0c-917dc0bf216b","payload":{"a":"%s"}}' % fill("\\n", 32600)).encode())
    if target == "status":
        for number in range(1, 14):
            write(f"full-empty-{number}", field(number, b"") * (body // 2))
            write(f"full-one-{number}", field(number, b"a") * (body // 3))
            write(f"full-inner-{number}", field(number, field(1, b"a") + field(2, b"b") + field(3, b"c")) * (body // 11))
            write(f"full-zero-{number}", varint(number << 3) + b"\0" + (varint(number << 3) + b"\0") * (body // 2 - 1))

# Whole submissions to every endpoint: P the peers', H all that speak HTTP, S Status' stream (SubmissionFuzz.swift).
if target == "submission":
    ping = envelope(7, b"\x08\x01")
    framed = lambda *bodies: b"P" + b"".join(varint(len(body)) + body for body in bodies + (ping,))
    number = lambda key, value: varint(key << 3) + varint(value)
    hex_token, token, address, channel = "ab" * 32, "t" * 140, "mb1:" + "a" * 96, "c" * 32
    bytes_of = lambda text: text if isinstance(text, bytes) else text.encode()

    def asked(method, path, body=b"", fields=""):
        body = bytes_of(body)
        head = f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
        return b"H" + head.encode() + body

    json_type = "Content-Type: application/json\r\n"
    bearer = json_type + "Authorization: Bearer BEARER\r\n"
    percent = lambda text: "".join("%%%02x" % byte for byte in bytes_of(text))
    notification = lambda **other: b"".join(
        field(key, value) if not isinstance(value, int) else number(key, value)
        for key, value in sorted(({1: "u", 3: 3, 5: token, 6: "x"} | {int(key[1:]): value for key, value in other.items()}).items()))
    for kind, text in [("marks", marks), ("ascii", ascii)]:
        for platform in [1, 3]:
            for key in [1, 4, 5, 6]:
                write(f"{kind}-notification-{platform}-{key}", framed(envelope(1001, notification(**{"_3": platform, f"_{key}": text(64900)}))))
        for key in [1, 2, 3, 4]:
            reply = {1: "u", 2: address, 3: channel, 4: b"s" * 300}
            post, fetch = reply | {key: text(64900)}, {one: value for one, value in (reply | {key: text(64900)}).items() if one < 4}
            write(f"{kind}-reply-{key}", framed(envelope(1003, b"".join(field(one, value) for one, value in post.items()))))
            write(f"{kind}-fetch-{key}", framed(envelope(1005, b"".join(field(one, value) for one, value in fetch.items()))))
        write(f"{kind}-relay", asked("GET", f"/relay?isAndroid=true&token={percent(text(5000))}&msg=61"))
        write(f"{kind}-relay-message", asked("GET", f"/relay?isAndroid=true&token={token.encode().hex()}&msg={bytes_of(text(7000)).hex()}"))
        for path, own in [("/v1/fcm", token), ("/v1/apns", hex_token)]:
            write(f"{kind}-post-{path[4:]}", asked("POST", path, json.dumps({"deviceToken": text(31900), "encrypted": "x"}, ensure_ascii=False), json_type))
            write(f"{kind}-post-{path[4:]}-message", asked("POST", path, json.dumps({"deviceToken": own, "encrypted": text(31900)}, ensure_ascii=False), json_type))
            write(f"{kind}-post-{path[4:]}-key", asked("POST", path, json.dumps({"deviceToken": own, "encrypted": "x", text(30000): 1}, ensure_ascii=False), json_type))
            write(f"{kind}-path-{path[4:]}", asked("POST", f"{path}/device/{percent(text(5000))}", '{"encrypted":"x"}', json_type))
        for platform in [1, 2]:
            for name in ["tokens", "topic", "to", "condition", "message", "title", "priority", "push_type", "apns_id", "collapse_id", "name"]:
                one = {"tokens": [hex_token if platform == 1 else token], "platform": platform, "message": "m"}
                value = [text(250000)] if name == "tokens" else text(250000)
                write(f"{kind}-gorush-{platform}-{name}", asked("POST", "/api/push", json.dumps({"notifications": [one | {name: value}]}, ensure_ascii=False), json_type))
        sealed = "Content-Encoding: aes128gcm\r\nTTL: 60\r\n"
        for path in [f"/relay-to/production/{percent(text(5000))}", f"/relay-to/fcm/{token}/{percent(text(5000))}", f"/push/{hex_token}/{percent(text(5000))}"]:
            write(f"{kind}-webpush-{path[1:13].replace('/', '-')}", asked("POST", path, b"x" * 100, sealed))
        for name in ["Content-Encoding", "Encryption", "Crypto-Key", "TTL", "Topic", "Urgency", "Authorization"]:
            extra = (f"{name}: " + text(14000) + "\r\n")
            write(f"{kind}-webpush-{name.lower()}", asked("POST", f"/relay-to/production/{hex_token}/a", b"x" * 100, extra))
        write(f"{kind}-mailbox-push", asked("POST", "/up" + "a" * 14, text(4000)))
        for name in ["Urgency", "Topic", "TTL", "Title", "Content-Encoding"]:
            write(f"{kind}-mailbox-push-{name.lower()}", asked("POST", "/up" + "a" * 14, "x", f"{name}: {text(14000)}\r\n"))
        write(f"{kind}-mailbox-matrix", asked("POST", "/_matrix/push/v1/notify", json.dumps({"notification": {"devices": [{"pushkey": text(7000)}]}}, ensure_ascii=False)))
        for name in ["since", "auth", "id", "message", "title", "tags", "priority", "poll"]:
            write(f"{kind}-mailbox-{name}", asked("GET", f"/mbmine/json?poll=1&{name}={percent(text(4900))}", fields="Authorization: Bearer tk_1\r\n"))
        write(f"{kind}-mailbox-authorization", asked("GET", "/mbmine/json?poll=1", fields=f"Authorization: Basic {text(14000)}\r\n"))
        for name in ["Title", "Tags", "Click", "Message", "Priority", "X-Delay", "X-Sequence-ID"]:
            write(f"{kind}-mailbox-publish-{name.lower()}", asked("POST", "/mbmine", fields=f"Authorization: Bearer tk_2\r\n{name}: {text(14000)}\r\n"))
        for name, words in [("words", "=?utf-8?q?=c3=a4?= " * 700), ("no-words", "=?utf-8?q?=4?" * 1000), ("marks", "=?" * 7000)]:
            write(f"{kind}-mailbox-publish-{name}", asked("POST", "/mbmine", fields=f"Authorization: Bearer tk_2\r\nTitle: {words}\r\n"))
        write(f"{kind}-mailbox-publish-body", asked("POST", "/mbmine", text(131000), "Authorization: Bearer tk_2\r\n"))
        write(f"{kind}-mailbox-publish-json", asked("POST", "/", json.dumps({"topic": "mbmine", "message": text(130000)}, ensure_ascii=False), "Authorization: Bearer tk_2\r\n"))
        write(f"{kind}-mailbox-publish-name", asked("DELETE", "/mbmine/" + "a" * 64, fields="Authorization: Bearer tk_2\r\n"))
        for name, value in [("message", text(7000)), ("title", text(7000)), ("tags", [text(7000)]), ("tags", ["a"] * 3000), ("topic", text(7000)), ("delay", text(7000)), ("sequence_id", text(7000)), ("actions", [{"action": "view", "url": text(7000)}])]:
            body = json.dumps({"topic": "mbmine"} | {name: value}, ensure_ascii=False)
            write(f"{kind}-mailbox-publish-{name}-{len(value)}", asked("POST", "/", body, "Authorization: Bearer tk_2\r\n"))
        write(f"{kind}-mailbox-reply", asked("POST", f"/v1/replies/{channel}", text(400), f"Authorization: Bearer {text(14000)}\r\n"))
        device = {"deviceId": "a", "pushToken": hex_token, "userId": "b", "type": 1, "identifier": "c", "organizationIds": ["d"]}
        for name in device:
            value = [text(32000)] if name == "organizationIds" else text(32000)
            write(f"{kind}-bitwarden-register-{name}", asked("POST", "/push/register", json.dumps(device | {name: value}, ensure_ascii=False), bearer))
        for name in ["userId", "payload", "identifier", "deviceId", "clientType"]:
            write(f"{kind}-bitwarden-send-{name}", asked("POST", "/push/send", json.dumps({"userId": "b", "type": 5, "payload": {}} | {name: text(32000)}, ensure_ascii=False), bearer))
        write(f"{kind}-bitwarden-token", asked("POST", "/connect/token", "grant_type=client_credentials&client_id=" + text(32000), "Content-Type: application/x-www-form-urlencoded\r\n"))
        for key in [1, 2, 3, 4, 12]:
            inner = field(key, text(60000))
            write(f"{kind}-status-{key}", asked("POST", "/status/v1/message", inner))
            write(f"{kind}-status-stream-{key}", b"S" + struct.pack(">I", len(inner)) + inner)
    # As many as one sender can bring at once.
    requests = [notification(_1=f"u{one}", _5="%03d" % (one % 1000) + token[:60], _3=3) for one in range(1000)]
    fit = lambda bodies, most=65400: bodies[:max(count for count in range(len(bodies) + 1) if sum(map(len, bodies[:count])) < most)]
    reply = lambda one: field(1, f"u{one}") + field(2, address) + field(3, channel)
    bundle = lambda bodies: framed(envelope(43, b"".join(fit([field(1, body) for body in bodies]))))
    write("bundle-fetches", bundle([envelope(1005, reply(one)) for one in range(400)]))
    write("bundle-short-fetches", bundle([envelope(1005, field(1, "%x" % one) + field(3, channel)) for one in range(1500)]))
    write("bundle-replies", bundle([envelope(1003, reply(one) + field(4, b"%03d" % one)) for one in range(400)]))
    write("bundle-notifications", bundle([envelope(1001, request) for request in requests]))
    write("bundle-refused", bundle([envelope(1001, field(1, "%x" % one)) for one in range(6000)]))
    write("bundle-pings", bundle([envelope(7, number(1, one)) for one in range(9000)]))
    write("frames-notifications", b"P" + b"".join(fit([varint(len(body)) + body for body in (envelope(1001, request) for request in requests[:190])])) + varint(len(ping)) + ping)
    write("frames-fetches", b"P" + b"".join(fit([varint(len(body)) + body for body in (envelope(1005, reply(one)) for one in range(190))])) + varint(len(ping)) + ping)
    write("frames-bundles", b"P" + b"".join(varint(len(body)) + body for body in
        [envelope(43, b"".join(field(1, envelope(1005, reply(part * 70 + one))) for one in range(70))) for part in range(5)]) + varint(len(ping)) + ping)
    gorush = lambda elements: asked("POST", "/api/push", json.dumps({"notifications": elements}), json_type)
    for platform in [1, 2]:
        names = ["%064x" % (one + 1) if platform == 1 else "%03d" % one + token for one in range(1000)]
        write(f"gorush-thousand-{platform}", gorush([{"platform": platform, "message": "m", "tokens": names}]))
        write(f"gorush-refused-{platform}", gorush([{"platform": platform, "message": "m", "tokens": [f"{one}" for one in range(1000)]}]))
        write(f"gorush-long-{platform}", gorush([{"platform": platform, "message": "m" * 3800, "tokens": names}]))
        write(f"gorush-hundred-{platform}", gorush([{"platform": platform, "message": f"m{one}", "tokens": names[one * 10:one * 10 + 10], "data": {"k": "v" * 1000}} for one in range(100)]))
        write(f"gorush-hundred-full-{platform}", gorush([{"platform": platform, "message": f"m{one}", "tokens": names[one:one + 1], "data": {"%x" % key: "v" for key in range(30)}} for one in range(100)]))
    write("bitwarden-organizations", asked("POST", "/push/register", json.dumps(device | {"organizationIds": ["%x" % one for one in range(3000)]}), bearer))
    write("bitwarden-devices", asked("POST", "/push/delete-organization", json.dumps({"devices": [{"id": "%x" % one} for one in range(1200)], "organizationId": "b"}), bearer))
    for name, alerts in [("alerts", ['{"labels":{}}'] * 9000), ("long-alerts", ['{"labels":{"alertname":"%s"}}' % ("a" * 4000)] * 31)]:
        write(f"mailbox-publish-{name}", asked("POST", "/mbmine?template=alertmanager", '{"status":"firing","alerts":[%s]}' % ",".join(alerts), "Authorization: Bearer tk_2\r\n"))
    write("mailbox-publish-commits", asked("POST", "/mbmine?template=github", '{"repository":{"full_name":"a"},"commits":[%s]}' % ",".join(['{"message":"m"}'] * 8000), "Authorization: Bearer tk_2\r\n"))
    write("pipelined", b"H" + b"".join(asked("GET", f"/relay?isAndroid=true&token={token}{one}&msg=61")[1:].replace(b"Connection: close\r\n", b"") for one in range(200)))

many = 60000
forms = {
    "json": ["[%s]" % ",".join(["0"] * (many // 2)), "[%s]" % ",".join(["[]"] * (many // 3)), "[" * many,
        "{%s}" % ",".join('"%x":0' % number for number in range(many // 9))],
    "relay": ["{%s}" % ",".join('"%x":0' % number for number in range(32000 // 9)), "&".join(["a"] * 16000)],
    "upstream": ["{%s}" % ",".join('"%x":0' % number for number in range(16000 // 9)), "[" * 16000],
    "register": [b"\x89\x00" * (many // 2), b"\x01\x00" + b"\x00\x00" * (many // 2), b"\x01\x01a" + b"\x00\x01a" * 2900, b"\x81\x00" * (many // 2),
        "[" * many, "{%s}" % ",".join('"%x":0' % number for number in range(many // 9))],
    "bitwarden": ["\0{%s}" % ",".join('"%x":0' % number for number in range(32000 // 9)), "\6" + "&".join(["a"] * 16000)],
    "frame": [b"\x08\x0a" * (many // 2), envelope(43, field(1, envelope(7, b"")) * (many // 6)), b"\x53" * many,
        envelope(5, b"\x18\x09" * (many // 2)), envelope(5, b"\x22\x00" * (many // 2))],
    "status": [b"\x42\x00" * (many // 2), b"\x0a\x00" * (many // 2), b"\x53" * many],
    "text": ["|" * many, "=" * many, "AAAA" * (many // 4)],
    "http": ["A: b\r\n" * 2000, "," * 12000, "GET / HTTP/1.1\r\nConnection: " + "," * 12000 + "\r\n\r\n"],
    "webpush": [";" * 14000, "=" * 14000, "/" * 14000],
}
for number, data in enumerate(forms.get(target, [])):
    write(f"many-{number}", data)
