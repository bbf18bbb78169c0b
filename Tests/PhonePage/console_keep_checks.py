"""The console's copy, settings and full book; and what works without scripts."""

import base64
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from checks import equal, until
from console_calls_checks import asked, session

passphrase = "correct horse battery"


def a_copy_is_made_and_looked_into(world):
    secret = world.directory / "passphrase"
    secret.write_text(passphrase + "\n")
    copy = world.directory / "copy"
    copy.unlink(missing_ok=True)
    subprocess.run(
        [world.command, "backup", copy, "--config", world.config, "--passphrase-file", secret],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    with world.page(world.link()) as page:
        page.go("#/keep")
        page.says("Last copy", "Not in it:")
        assert "Make one now." not in page.text()
        page.type("#copy-passphrase", "short")
        page.type("#copy-passphrase-again", "short")
        page.tap("Download the copy")
        page.says("at least 12 characters")
        page.type("#copy-passphrase", passphrase)
        page.type("#copy-passphrase-again", passphrase)
        page.tap("Download the copy")
        page.says("The copy is handed to the browser")
        page.tap("Look into it")
        page.says("Choose the file first.")
        page.run(
            """const bytes = Uint8Array.from(atob(given[0]), (one) => one.charCodeAt(0));
            const held = new DataTransfer();
            held.items.add(new File([bytes], "copy"));
            document.getElementById("file").files = held.files""",
            base64.b64encode(copy.read_bytes()).decode(),
        )
        page.run("document.getElementById('try-file').files = document.getElementById('file').files")
        page.type("#try-passphrase", "another horse battery")
        page.tap("Open it")
        page.says("The passphrase is wrong, or the file was changed or cut.")
        page.type("#try-passphrase", passphrase)
        page.tap("Open it")
        page.says("The file can be opened. It holds:", "The settings are the same.")
        equal(page.run("return document.querySelectorAll('#try-plan button').length"), 0)
        page.type("#move-passphrase", "another horse battery")
        page.tap("Look into it")
        page.says("The passphrase is wrong, or the file was changed or cut.")
        page.type("#move-passphrase", passphrase)
        page.tap("Look into it")
        page.says("The settings are the same.")
        page.tap("Move in")
        page.run("document.querySelector('dialog .danger').click()")
        page.says("The node takes it over when it starts anew.")
    (world.directory / "state/moving-in").unlink()


def a_setting_is_shown_before_it_is_taken(world):
    before = world.config.read_text()
    with world.page(world.link()) as page:
        page.go("#/settings")
        page.tap("Show the change")
        page.says("Nothing is changed.")
        page.run("document.getElementById('log.level').value = 'debug'")
        page.tap("Show the change")
        page.says("The node takes it at once")
        equal(world.config.read_text(), before)
        page.run("document.getElementById('text').dataset.old = 1")
        page.tap("Take it over")
        until(lambda: "level: debug" in world.config.read_text(), "the settings")
        # Drawn anew, with what is in the file now.
        until(lambda: page.run("const text = document.getElementById('text'); return text && !text.dataset.old"), "the screen")
        page.run("document.querySelector('details').open = true")
        page.run("document.getElementById('text').value += 'wrong: 1\\n'")
        page.run("document.querySelector('details form').requestSubmit()")
        page.says("Errors: 1")
        page.says("wrong: unknown key")
    world.config.write_text(before)


def a_full_book_is_shown(world):
    cookie = session(world)
    added = 0
    # Checks before this one have left some.
    for number in range(1001):
        body = {"name": f"full{number // 10}", "pairing_token": "android||" + "k" * 32 + "|" + f"{number:0140d}"}
        status = asked(world, "POST", "/phones", body, cookie)[0]
        if status != 201:
            break
        added += 1
    equal(status, 409)
    assert added > 900, added
    with world.page(world.link()) as page:
        page.go("#/phones")
        equal(page.run("return document.querySelectorAll('.phone[data-number]').length"), 1000)
    for number in range((added + 9) // 10):
        equal(asked(world, "DELETE", f"/names/full{number}", None, cookie)[0], 200)


def sent(world, form, **fields):
    """What a browser without scripts sends: the status, the cookie, and where it is sent on to."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    request = urllib.request.Request(f"{world.origin}/enter", method="POST", data=urllib.parse.urlencode(form).encode())
    for name, value in fields.items():
        request.add_header(name.replace("_", "-"), value)
    try:
        answer = urllib.request.build_opener(Stay).open(request)
    except urllib.error.HTTPError as error:
        answer = error
    return answer.status, answer.headers.get("set-cookie"), answer.headers.get("location")


def the_state_is_read_without_scripts(world):
    page = urllib.request.urlopen(world.origin + "/").read().decode()
    assert '<form method="post" action="enter">' in page
    own = {"Origin": "null", "Sec_Fetch_Site": "same-origin"}
    equal(sent(world, {"link": "wrong"}, **own)[:2], (403, None))
    secret = world.link().split("#enter=")[1]
    # A page from elsewhere, one that hides where it is from, and no browser at all.
    for fields in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "null", "Sec_Fetch_Site": "cross-site"}, {}):
        equal((fields, sent(world, {"link": secret}, **fields)[:2]), (fields, (403, None)))
    status, cookie, place = sent(world, {"link": secret}, **own)
    equal((status, place), (303, "status.txt"))
    request = urllib.request.Request(f"{world.origin}/{place}", headers={"Cookie": cookie.split(";")[0]})
    assert b"onionbell" in urllib.request.urlopen(request).read().lower()


checks = [
    a_copy_is_made_and_looked_into,
    a_setting_is_shown_before_it_is_taken,
    a_full_book_is_shown,
]
# It needs no browser.
in_chromium = [the_state_is_read_without_scripts]
