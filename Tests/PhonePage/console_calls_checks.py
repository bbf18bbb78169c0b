"""The console's calls, as its page and programs make them, at the node of `console_checks`."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request

from checks import equal, hung


def asked(world, method, path, body=None, cookie=None):
    """The status and the fields of an answer to what the console's page asks."""
    request = urllib.request.Request(f"{world.origin}/api/v1{path}", method=method)
    request.add_header("Origin", world.origin)
    request.add_header("Onionbell-Console", "1")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    if cookie:
        request.add_header("Cookie", cookie)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers


def session(world):
    """Enters; the session's cookie."""
    status, fields = asked(world, "POST", "/session", {"link": world.link().split("#enter=")[1]})
    equal(status, 204)
    return fields["set-cookie"].split(";")[0]


def document_of(world, cookie):
    """The document that describes the calls, as the node serves it."""
    request = urllib.request.Request(f"{world.origin}/api/v1/openapi.json")
    request.add_header("Cookie", cookie)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def no_call_is_answered_without_a_session_of_this_node(world):
    entered = session(world)
    document = document_of(world, entered)
    name = entered.split("=")[0]
    left = session(world)
    equal(asked(world, "DELETE", "/session", cookie=left)[0], 204)
    count = 0
    # None, one of another node, one that has ended.
    for cookie in (None, f"{name}={'A' * 43}", left):
        for path, operations in document["paths"].items():
            for method in operations:
                if (method, path) == ("post", "/session"):
                    continue
                body = {} if method in ("post", "put") else None
                place = re.sub(r"\{\w+\}", "1", path)
                equal((method, path, asked(world, method.upper(), place, body, cookie)[0]), (method, path, 401))
                count += 1
    assert count > 60, count


def the_calls_do_what_their_description_says(world):
    """Schemathesis: made-up requests, good and bad ones, of each call, and chains of them."""
    libraries = world.root / ".build/schemathesis"
    if not libraries.exists():
        print("  skipped: schemathesis could not be installed (Deploy/tools/dependencies browser)")
        return
    entered = session(world)
    document = document_of(world, entered)
    cookie = entered.split("=")
    document["components"]["securitySchemes"]["session"]["name"] = cookie[0]
    (world.directory / "openapi.json").write_text(json.dumps(document))
    (world.directory / "schemathesis.toml").write_text(f"""
[auth.openapi.session]
api_key = "{cookie[1]}"
# Its own list has no 413: a body may be too large before it is anything else.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 422, 429, "5xx"]
""")
    # What ends the session that all others have; and the ring, which waits a minute for a push service.
    # And the stream, which has no end.
    left_out = ["enter", "leave", "setPassphrase", "removePassphrase", "endSession", "ringPhone", "ringName", "listen"]
    ran = subprocess.run(
        [
            sys.executable, "-c", "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())",
            "--config-file", world.directory / "schemathesis.toml", "run", world.directory / "openapi.json",
            "--url", f"{world.origin}/api/v1", "--seed", "1", "--max-examples", "15", "--warnings", "off",
            "-H", f"Origin: {world.origin}", "-H", "Onionbell-Console: 1",
            # No schema can say which pairing tokens are good.
            "--exclude-checks", "positive_data_acceptance", "--continue-on-failure",
            # It judges the node, not how busy this machine is.
            "--suppress-health-check", "all", "--request-timeout", str(hung),
            *(word for name in left_out for word in ("--exclude-operation-id", name)),
        ],
        env=os.environ | {"PYTHONPATH": str(libraries)}, cwd=world.directory, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    found = re.search(r"(\d+) generated, (\d+) passed", ran.stdout)
    assert found and int(found[1]) > 300, ran.stdout[-2000:]
    print(f"  schemathesis: {found[0]}")


checks = [
    no_call_is_answered_without_a_session_of_this_node,
    the_calls_do_what_their_description_says,
]
