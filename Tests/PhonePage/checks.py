"""Runs checks one after the other and counts them. A check is a function; its name is the promise that it tests."""

import threading
import time
import traceback

passed = []
failed = []

# After how many seconds what has to come counts as hung. No check takes half as long, on a busy machine either. Broken pages
# wait in vain, so they wait less.
hung = 400
patience = threading.local()


def run(check, *arguments):
    """Runs one check; whether it passed. `AssertionError` is its way to fail, any other error counts as well."""
    name = check.__name__.replace("_", " ")
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
    """Asks until there is an answer that is true, and gives it."""
    seconds = seconds or getattr(patience, "seconds", hung)
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(0.03)


def equal(found, wanted):
    assert found == wanted, f"found {found!r}, wanted {wanted!r}"


def run_part(name, part):
    """Runs a part of the checks; one that could not even begin has failed too."""
    try:
        part()
    except Exception:
        failed.append(name)
        print(f"FAILED to run the part {name}\n{traceback.format_exc(limit=-3)}", flush=True)
