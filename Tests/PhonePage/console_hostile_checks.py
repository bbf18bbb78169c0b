"""What goes wrong around the console: bad input in each field, no scripts, a page that is open for long, a large zoom."""

import os
import re
import resource
import socket

from checks import equal, free_port, until
from console_checks import banner, fragments
from console_ways_checks import is_on, tap_switch, turn, ways_page
from console_world import restore
from screens_checks import violations

rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

# Whatever somebody types, or has pasted.
texts = [
    "", "   ", "x" * 100_000, "电话 телефон هاتف", "a\u202eb\u200d", "\u0001\u0007\u001b[31m", "a\r\nb\tc",
    "<img src=x class=struck onerror='window.struck=1'>", "\"'><script>window.struck=1</script>&lt;$&{name}",
    "99999999999999999999", "-1", "1e309", "0x10", "NaN", "../../etc/passwd", "%00%2e%2e/", "[]", "{}", "!!binary x", "*", "null",
]  # fmt: skip


# Fields in which a text of this form is a name, and would be taken.
names = {"mailbox", "peer", "widget"}
# What opens a form: switches that ask for something first.
asking = ("phone_page", "ntfy", "apple", "google")


def each_field_is_told_what_is_wrong_with_each_text(world):
    """Nothing is changed, nothing is struck, no form is dead, and each says something."""
    before = world.config.read_text()
    count = 0
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        for fragment in fragments:
            page.go(fragment)
            if fragment == "#/ways":
                for way in asking:
                    tap_switch(page, f"#way-{way}")
            fields = page.run(
                """return [...document.querySelectorAll("main form")].map(form => [...form.elements].map(one => one.id || one.name))"""
            )
            for form, found in enumerate(fields):
                for text in texts:
                    if names & set(found) and re.fullmatch(r"[A-Za-z0-9._-]{1,64}", text):
                        continue
                    if "passphrase-again" in found and 10 <= len(text.strip()) < 1000:
                        continue  # a good passphrase
                    submit(page, form, text)
                    said = until(lambda: told(page, form), lambda: f"{text[:30]!r} at {fragment} {found}: {page.text()[:300]!r}")
                    assert not any(word in said for word in ("TypeError", "undefined", "[object")), (fragment, found, text, said)
                    count += 1
        assert count > 250, count
        equal(page.run("return [document.querySelectorAll('.struck').length, window.struck ?? null]"), [0, None])
        page.go("#/phones")
        page.says("There is no phone yet.")
    equal(world.config.read_text(), before)


def submit(page, form, text):
    page.run(
        """const form = document.querySelectorAll("main form")[given[0]];
        for (const one of form.querySelectorAll("input:not([type=file], [type=checkbox], [readonly]), textarea")) one.value = given[1];
        document.getElementById("toast").textContent = "";
        form.requestSubmit();""",
        form, text,
    )  # fmt: skip


def told(page, form):
    """What a form has said; nothing while it is at work."""
    return page.run(
        """const form = document.querySelectorAll("main form")[given[0]];
        if (!form || form.querySelector("[type=submit]").disabled) return null;
        const places = [...form.querySelectorAll(".fault"), form.nextElementSibling, ...document.querySelectorAll("#result, #toast")];
        return places.map(one => one?.textContent ?? "").join(" ").trim();""",
        form,
    )


def a_restart_that_is_refused_after_the_settings_are_written_takes_them_back(world):
    """Another program takes the port in the moment between the two."""
    before = world.config.read_text()
    port = free_port()
    with socket.socket() as other, ways_page(world) as page:
        tap_switch(page, "#way-phone_page")
        page.type("#address-phone_page", f"http://localhost:{port}")
        page.tap("Show what changes")
        page.says("restarts in place")
        page.run(
            """const ask = window.fetch;
            window.fetch = async (path, options) => {
                if (String(path).endsWith("/restart")) await new Promise(done => window.goOn = done);
                return ask(path, options);
            };
            document.querySelector(".proposal .primary").click();"""
        )
        until(lambda: page.run("return Boolean(window.goOn)"), "the settings to be written")
        assert str(port) in world.config.read_text()
        other.bind(("127.0.0.1", port))
        other.listen()
        page.run("window.goOn()")
        page.says("It was switched back.", f"127.0.0.1:{port}")
        assert not is_on(page, "phone_page") and not is_on(page, "browsers")
        until(lambda: "A restart is due" not in page.text() and banner(page) is None, "the lines to go")
    equal(world.config.read_text(), before)


def a_disk_that_is_full_leaves_the_way_off_and_says_so(world):
    """No file of the node's can grow: what the system says then is another word than a full disk's, at the same calls."""
    before = world.config.read_text()
    world.end()
    world.begin(restore_signals=False)  # else the system ends who writes beyond the limit
    with ways_page(world) as page:
        tap_switch(page, "#way-browsers")
        page.says("a key of its own")
        limits = resource.prlimit(world.node.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(world.node.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
        page.run("document.querySelector('.proposal .primary').click()")
        said = until(lambda: page.run("return document.querySelector('.proposal .fault')?.textContent"), "a fault")
        assert "File too large" in said, said
        assert not is_on(page, "browsers")
        equal((world.config.read_text(), leftovers(world)), (before, []))
        resource.prlimit(world.node.pid, resource.RLIMIT_FSIZE, limits)
        turn(page, "on")
        until(lambda: is_on(page, "browsers"), "it to be on")
    equal(leftovers(world), [])
    restore(world, before)


def leftovers(world):
    return [one.name for one in world.directory.iterdir() if one.name.startswith("node.yaml.")]


restarting = """
    window.restarting = [];
    new MutationObserver(() => {
        if (!document.querySelector("#presence.is-awaited")) return;
        window.restarting.push([document.getElementById("screen").inert, document.getElementById("restarted") === null]);
    }).observe(document.body, { attributes: true, childList: true, subtree: true });
"""


def a_page_that_is_open_over_many_restarts_goes_on(world):
    """Each restart is seen, and nothing of the ones before is left over. What was opened meanwhile would be lost, so that
    nothing can be."""
    times = 20 if os.environ.get("TEST_LONG") else 4
    before = world.config.read_text()
    with ways_page(world) as page, world.page(world.link()) as watcher:
        watcher.go("#/now")
        page.run(restarting)
        streams = lambda: watcher.run("return performance.getEntriesByType('resource').filter(one => one.name.endsWith('/events')).length")
        for number in range(times):
            tap_switch(page, "#way-browsers")
            wanted = not number % 2
            page.says("a key of its own" if wanted else "do not ring any more")
            page.run("document.querySelector('.proposal .primary').click()")
            until(lambda: is_on(page, "browsers") == wanted and "Restarted in place" in page.text(), f"restart {number}")
            until(lambda: banner(watcher) is None and "Running for" in watcher.text(), "the other page")
        seen = page.run("return window.restarting")
        assert seen and all(one == [True, True] for one in seen), seen
        # It still hears of what changes.
        watcher.go("#/phones")
        elsewhere = "fetch('api/v1/phones', {method: 'POST', headers: {'Onionbell-Console': '1', 'Content-Type': 'application/json'}, body: given[0]})"
        page.run(f"await {elsewhere}", '{"name": "late", "pairing_token": "android||%s|%s"}' % ("k" * 32, "b" * 140))
        watcher.says("late")
        page.run("await fetch('api/v1/names/late', {method: 'DELETE', headers: {'Onionbell-Console': '1'}})")
        until(lambda: "late" not in watcher.text(), "it to go")
        assert streams() <= 3 * times + 3, streams()
    equal(world.config.read_text(), before)


def every_screen_holds_at_four_times_its_size(world):
    """A window of 1280 by 1024 at 400 %: nothing is cut, nothing moves sideways, and axe finds nothing."""
    with world.page(world.link()) as page:
        page.says("Let your Bisq")
        page.zoom(4, 1280, 1024)
        for fragment in fragments:
            page.go(fragment)
            page.settle()
            equal((fragment, violations(page, rules)), (fragment, []))
            wide = page.run(
                """const wide = document.documentElement.clientWidth;
                return [...document.querySelectorAll("body *")].filter(one => one.checkVisibility() && !one.closest("pre, svg, .difference, textarea, code, .unseen, #toast")
                    && one.getBoundingClientRect().right > wide + 1).map(one => one.outerHTML.slice(0, 120))"""
            )
            equal((fragment, wide), (fragment, []))
            # What is always there leaves room for the rest.
            left = page.run(
                "return innerHeight - document.getElementById('tabs').offsetHeight - document.getElementById('lines').offsetHeight"
            )
            assert left > 128, (fragment, left)


def the_state_is_read_by_a_browser_without_scripts(world):
    with world.page(f"{world.origin}/") as page:
        page.stop_scripts()
        page.visit(f"{world.origin}/")
        until(lambda: "The console needs JavaScript." in page.body() and "Secret of a link" in page.body(), page.body)
        page.send_form("link", world.link().split("#enter=")[1])
        until(lambda: page.place() == f"{world.origin}/status.txt", page.place)
        assert "onionbell" in page.body().lower(), page.body()


checks = [
    each_field_is_told_what_is_wrong_with_each_text,
    a_restart_that_is_refused_after_the_settings_are_written_takes_them_back,
    a_disk_that_is_full_leaves_the_way_off_and_says_so,
    a_page_that_is_open_over_many_restarts_goes_on,
    every_screen_holds_at_four_times_its_size,
    the_state_is_read_by_a_browser_without_scripts,
]
