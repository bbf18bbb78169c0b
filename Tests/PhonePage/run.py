"""Runs the checks of the phone's page. `Deploy/tools/phone-page-test` calls it with a folder to work in.

run.py WORK                 everything but the broken pages
run.py WORK firefox         one part: deploy, firefox, node, console, walk, chromium, pairing, screens,
                            broken
run.py WORK pictures OUT    pictures of every screen; console-pictures OUT of the console's
"""

import faulthandler
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import bench
import broken_pages
import checks
import console_calls_checks
import console_checks
import console_hostile_checks
import console_keep_checks
import console_language_checks
import console_mistakes_checks
import console_pictures
import console_text_checks
import console_walk_checks
import console_ways_checks
import console_world
import deploy_checks
import firefox_checks
import host_checks
import message_checks
import node_checks
import pairing_checks
import pictures
import screens_checks
from chromium import Chromium
from firefox import Firefox

root = Path(__file__).resolve().parents[2]
work = Path(sys.argv[1])


def deployed(name, *options):
    """A folder that serves the page at `bench.path`. It waits for its browser as long as the checks do, so that a busy
    machine fails none."""
    folder = work / name
    target = folder / bench.path.strip("/")
    target.parent.mkdir(parents=True)
    subprocess.run([root / "Deploy/phone-page", target, *options], check=True, stdout=subprocess.DEVNULL)
    limits = target / "limits.js"
    limits.write_text(re.sub(r"= [0-9_]+;", f"= {checks.hung * 1000};", limits.read_text()))
    return folder


def in_firefox():
    world = firefox_checks.World(deployed("firefox"))
    try:
        # Each of these goes on where the one before it ended.
        for check in firefox_checks.checks:
            if not checks.run(check, world):
                break
    finally:
        world.stop()


def with_the_node():
    world = node_checks.World(root, deployed("node"))
    try:
        for check in node_checks.checks:
            if not checks.run(check, world):
                break
    finally:
        world.stop()


def in_chromium(name, listed):
    place = bench.Bench(deployed(name))
    try:
        for check in listed:
            checks.run(check, place)
    finally:
        place.stop()


# A part of the name of a check, to run only those: CHECKS=rings Deploy/tools/phone-page-test console
chosen = os.environ.get("CHECKS", "")


def with_the_console_in(browser, listed):
    world = console_world.World(root, browser)
    try:
        for check in listed:
            if chosen in check.__name__:
                checks.run(check, world, where=browser.__name__)
    finally:
        world.stop()


has_all_in_firefox = "console" in sys.argv or "TEST_LONG" in os.environ


def with_the_console():
    """In both browsers, each at a node of its own. Two beside everything else take the machine from other tests: the short
    form of all has Firefox in the walk, with the mistakes and the switches, and this part by its name has all in both."""
    modules = [
        console_checks, console_text_checks, console_keep_checks, console_mistakes_checks, console_ways_checks,
        console_hostile_checks, console_language_checks,
    ]  # fmt: skip
    listed = [check for module in modules for check in module.checks]
    once = [check for module in modules for check in getattr(module, "in_chromium", [])] + console_calls_checks.checks
    parts = {"console in Chromium": lambda: with_the_console_in(Chromium, listed + once)}
    if has_all_in_firefox:
        parts["console in Firefox"] = lambda: with_the_console_in(Firefox, listed)
    in_parallel(parts)


def walking():
    """An owner's whole way, in both browsers one after the other; then in Firefox the mistakes on it, and the switches, which
    Chromium meets in the console's part."""
    lab = console_walk_checks.Lab(root, deployed("walk"))
    chromium = Chromium()
    try:
        for name, browser in (("Chromium", chromium), ("Firefox", None)):
            world = console_walk_checks.World(lab, name.lower(), browser)
            with world.page(world.link()) as page:
                for step in console_walk_checks.steps:
                    if not checks.run(step, world, page, where=name):
                        break
    finally:
        chromium.stop()
        lab.stop()
    if not has_all_in_firefox:
        with_the_console_in(Firefox, console_mistakes_checks.checks + console_ways_checks.checks)


def in_parallel(parts):
    """Each part mostly waits for its browser, so they run side by side."""
    threads = [threading.Thread(target=checks.run_part, args=part) for part in parts.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def deploying():
    for check in deploy_checks.checks + [broken_pages.every_fault_has_its_place_in_the_page]:
        checks.run(check, root, work)


parts = {
    "deploy": deploying,
    "firefox": in_firefox,
    "node": with_the_node,
    "console": with_the_console,
    "walk": walking,
    "chromium": lambda: in_chromium("chromium", message_checks.checks + host_checks.checks),
    "pairing": lambda: in_chromium("pairing", pairing_checks.checks),
    "screens": lambda: in_chromium("screens", screens_checks.checks),
    "broken": lambda: broken_pages.run(deployed),
}

if __name__ == "__main__":
    faulthandler.enable()  # where each thread stands, if the run is ended from outside
    begin = time.monotonic()
    if sys.argv[2:3] == ["pictures"]:
        place = bench.Bench(deployed("pictures"))
        try:
            pictures.take(place, Path(sys.argv[3]))
        finally:
            place.stop()
        sys.exit()
    if sys.argv[2:3] == ["console-pictures"]:
        console_pictures.take(root, deployed("console-pictures"), Path(sys.argv[3]))
        sys.exit()
    wanted = sys.argv[2:] or [name for name in parts if name != "broken"]
    in_parallel({name: parts[name] for name in wanted})
    print(f"Took {time.monotonic() - begin:.0f} s.")
    print(f"{len(checks.passed)} passed, {len(checks.failed)} failed")
    sys.exit(1 if checks.failed or not checks.passed else 0)
