"""Runs checks one after the other and counts them. A check is a function; its name is the promise that it tests."""

import random
import socket
import threading
import time
import traceback

passed = []
failed = []

# After how many seconds what has to come counts as hung. No check takes half as long, on a busy machine either. Broken pages
# wait in vain, so they wait less.
hung = 400
patience = threading.local()


claims = []


def free_port():
    """Nobody else's until this process ends: as freePorts in Sources/Base/Processes does it, with its names."""
    while True:
        port = random.randrange(16_384, 32_768)
        claim = socket.socket(socket.AF_UNIX)
        try:
            with socket.socket() as one:
                one.bind(("127.0.0.1", port))
            claim.bind(f"\0onionbell-port-{port}")
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return port


def run(check, *arguments, where=""):
    """Runs one check; whether it passed. `AssertionError` is its way to fail, any other error counts as well."""
    name = check.__name__.replace("_", " ") + (f" in {where}" if where else "")
    begin = time.monotonic()
    try:
        check(*arguments)
    except Exception:  # one check's fault must not keep the others from running
        failed.append(name)
        print(f"FAILED {name}\n{traceback.format_exc(limit=-3)}", flush=True)
        return False
    passed.append(name)
    print(f"ok {name} ({time.monotonic() - begin:.1f} s)", flush=True)
    return True


def until(condition, what, seconds=None):
    """Asks until there is an answer that is true, and gives it. `what` is a text, or gives one when it is needed."""
    seconds = seconds or getattr(patience, "seconds", hung)
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.03)


def is_hasty():
    """Whether a fault is looked for that makes a check wait in vain."""
    return hasattr(patience, "seconds")


def equal(found, wanted):
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"


def run_part(name, part):
    """Runs a part of the checks; one that could not even begin has failed too."""
    try:
        part()
    except Exception:
        failed.append(name)
        print(f"FAILED to run the part {name}\n{traceback.format_exc(limit=-3)}", flush=True)
