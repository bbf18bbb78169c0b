"""Every screen with something on it, for pictures and for the checks of accessibility."""

import time

from PIL import Image

import bisq
from bench import key

iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
passcode = "correct horse"


def fill(page):
    """A day and a half of a trader's life."""
    hour = 3_600_000
    now = int(time.time() * 1000)
    for age, kind, title, text, trade in [
        (75, "MARKET", "New offer", "A new offer to buy BTC with EUR is 1.5 % above the market price.", "jKxQ"),
        (
            52,
            "PRICE",
            "Price alert for EUR",
            "Your price alert got triggered. The current Bitcoin price is 58,214.50 EUR.",
            "",
        ),
        (30, "OFFER", "Offer taken", "Your offer with ID jKxQ81 was taken.", "jKxQ81"),
        (
            27,
            "TRADE",
            "Deposit confirmed",
            "The deposit transaction of the trade with ID jKxQ81 is confirmed. Start the payment now.",
            "jKxQ81",
        ),
        (3, "DISPUTE", "New dispute message", "You have a new message from the mediator.", "bT2vQ0"),
        (
            1,
            "TRADE",
            "Payment received",
            "The BTC seller has confirmed the receipt of your payment for the trade with ID jKxQ81. It is completed.",
            "jKxQ81",
        ),
    ]:
        page.push(bisq.bisq1(key, bisq.message(kind, title, text, trade, now - age * hour)))
        page.notified(title)
    page.push(
        bisq.bisq2(
            key,
            {
                "id": "1",
                "title": "Message from Anna",
                "message": "I have sent the payment.",
                "category": "chat_message",
            },
        )
    )
    page.notified("Anna")
    page.push(
        'OnionbellNotice|{"title": "Your Bisq has fallen silent", "message": "Nothing was heard of it for an hour."}'
    )
    page.notified("silent")
    page.run("""const store = await import("./store.js");
        for (const push of (await store.allPushes()).slice(0, 4)) await store.changePush(push.id, (now) => ({...now, isRead: true}));
        await store.changeSetting("pairing", (now) => ({...now, confirmed: Date.now() - 9e7}));""")
    page.reload()
    page.says("Message from Anna")


def screens(bench):
    """Goes through all screens and yields (name, page) at each."""
    with bench.page() as page:
        yield "welcome", page
        page.tap("Android")
        page.run("document.querySelector('details[open]').scrollIntoView({block: 'center'})")
        yield "welcome-help", page
        page.go("#/key")
        yield "key", page
        page.type("textarea", "B123")
        page.tap("Next")
        page.says("This is no key of a node")
        yield "key-wrong", page
    with bench.page() as page:
        page.command("Emulation.setUserAgentOverride", {"userAgent": iphone, "platform": "iPhone"})
        page.open("about:blank")
        page.open(f"{bench.url}#k={bench.vapid}")
        page.says("Add to Home Screen")
        yield "welcome-iphone", page
    with bench.page() as page:
        page.pair(key)
        page.go("#/pair")
        yield "pair", page
        page.go("#/")
        yield "list-empty", page
        fill(page)
        yield "list", page
        page.go("#/pair")
        yield "pair-confirmed", page
        for text, name in [("jKxQ81. It is", "notice"), ("Nothing was heard", "notice-node")]:
            page.go("#/")
            page.run(
                "[...document.querySelectorAll('.line')].find(one => one.innerText.includes(given[0])).click()", text
            )
            page.says(text)
            yield name, page
        page.go("#/settings")
        yield "settings", page
        page.run("scrollTo(0, 1e6)")
        yield "settings-end", page
        page.tap("Erase all notifications")
        yield "question", page
        page.tap("Cancel")
        for name in ("phone", "take", "passcode", "report"):
            page.go(f"#/{name}")
            yield name, page
        page.run(
            """await (await import("./store.js")).changeSetting("pairing", (now) => ({...now, moved: Date.now()}))"""
        )
        page.reload()
        page.says("new address")
        yield "list-moved", page
        page.run(
            """const {setPasscode, lock} = await import("./state.js"); await setPasscode(given[0]); lock();""", passcode
        )
        page.go("#/x")
        page.says("Locked")
        yield "locked", page


def take(bench, out, width=390, height=844):
    out.mkdir(parents=True, exist_ok=True)
    for name, page in screens(bench):
        page.size(width, height)
        for scheme in ("light", "dark"):
            page.appearance(scheme)
            page.run(
                "document.getElementById('toast').textContent = ''; await new Promise(done => setTimeout(done, 120))"
            )
            page.picture(out / f"{name}-{scheme}.png")
    for scheme in ("light", "dark"):
        beside_each_other([out / f"{name}-{scheme}.png" for name in ("welcome", "pair", "list")]).save(
            out / ("phone-page.png" if scheme == "light" else "phone-page~dark.png"), optimize=True
        )


def beside_each_other(files, gap=32):
    """Three screens in one picture, for the article about the page."""
    screens = [Image.open(file).convert("RGB") for file in files]
    width, height = screens[0].size
    whole = Image.new("RGB", (len(screens) * width + (len(screens) - 1) * gap, height), (133, 128, 141))
    for number, screen in enumerate(screens):
        whole.paste(screen, (number * (width + gap), 0))
    return whole.resize((whole.width // 2, whole.height // 2), Image.LANCZOS).quantize(
        256, method=Image.Quantize.MAXCOVERAGE
    )
