"""The page in a real Firefox with a real subscription: what a sender seals, this browser opens, shows and lists."""

import json

import bisq
from bench import path
from checks import equal, until
from firefox import Firefox, PageInFirefox
from host import Host
from push_service import PushService

storage_limit = 6 * 1024  # KiB


class World(PageInFirefox):
    """A node's key, a push service, a host with the page, and a browser."""

    def __init__(self, folder):
        self.host = Host(folder)
        self.service = PushService()
        self.firefox = Firefox(f"ws://127.0.0.1:{self.service.port}/", **{"dom.quotaManager.temporaryStorage.fixedLimit": storage_limit})
        self.vapid = bisq.vapid_key()
        self.page = f"{self.host.origin}{path}"
        self.token = ""

    def stop(self):
        self.firefox.stop()
        self.service.stop()
        self.host.stop()

    @property
    def key(self):
        return self.token.split("|")[2]

    @property
    def subscription(self):
        return bisq.opened_token(self.token.split("|")[3])

    def push(self, text, seal=bisq.sealed_push):
        subscription = self.subscription
        return self.service.push(subscription["endpoint"], seal(subscription, text))

def without_permission_the_page_says_what_to_do(world):
    world.firefox.allow(world.host.origin, "deny")
    world.firefox.open(f"{world.page}#k={world.vapid}")
    world.firefox.click("Turn on notifications")
    world.listed("Notifications are blocked for this page")
    equal(world.firefox.run("return location.hash"), "")
    world.firefox.allow(world.host.origin, "prompt")
    world.firefox.open("about:blank")


def a_tap_and_the_browsers_question_lead_to_the_pairing_token(world):
    world.firefox.open(world.page)
    world.firefox.click("Turn on notifications")
    world.token = world.token_after_yes()
    magic, descriptor, key, token = world.token.split("|")
    equal((magic, descriptor, len(key)), ("android", "Web", 32))
    assert 32 <= len(token) <= 1024
    equal(world.service.keys[world.subscription["endpoint"]], world.vapid)
    world.listed("Waiting for Bisq…")


def a_set_up_confirmation_shows_paired(world):
    world.push(bisq.bisq1(world.key, bisq.message("SETUP_CONFIRMATION")))
    world.shows("Paired with Bisq")
    world.listed("Bisq has confirmed this phone.")
    world.close_notifications()


def a_message_of_bisq_1_is_opened_shown_and_listed(world):
    version = world.push(bisq.bisq1(world.key, bisq.message("TRADE", "Angebot übernommen", "Ihr Angebot Xq81", "Xq81")))
    world.shows("Angebot übernommen", "Ihr Angebot Xq81")
    until(lambda: world.service.acknowledged.get(version) == 100, "Firefox's acknowledgement")
    world.go("#/")
    world.listed("Angebot übernommen", "Ihr Angebot Xq81")


def a_message_of_bisq_2_is_opened_shown_and_listed(world):
    content = {"id": "1", "title": "New message", "message": "from peer", "category": "chat_message", "tradeId": "t-7"}
    world.push(bisq.bisq2(world.key, content))
    world.shows("New message", "from peer")
    world.listed("New message", "from peer")
    assert world.firefox.run("return document.querySelector('.kind-CHAT') !== null")


def padding_to_a_kilobyte_and_the_largest_body_are_opened(world):
    world.push(bisq.bisq1(world.key, bisq.message("OFFER", "padded", "one")), bisq.padded_push)
    world.shows("padded", "one")
    text = bisq.bisq1(world.key, bisq.message("OFFER", "largest", "é" * 600))
    world.push(text, lambda subscription, text: bisq.padded_push(subscription, text, 3993 + 1))
    world.shows("largest", "ééé")


def a_repetition_stands_once(world):
    world.close_notifications()
    text = bisq.bisq1(world.key, bisq.message("PRICE", "once", "only"))
    versions = [world.push(text) for _ in range(3)]
    until(lambda: all(version in world.service.acknowledged for version in versions), "three acknowledgements")
    world.shows("once")
    world.push(bisq.bisq1(world.key, bisq.message("PRICE", "after", "that")))
    world.shows("after")
    equal(len([shown for shown in world.notifications() if shown["title"] == "once"]), 1)
    equal(world.text().count("once"), 1)


def damaged_bodies_are_refused_by_the_browser(world):
    """The six damages of the vectors `opening-refused`, on a body for this subscription."""
    world.close_notifications()
    body = bisq.sealed_push(world.subscription, bisq.bisq1(world.key, bisq.message("TRADE", "damaged", "")))
    flipped = lambda at: body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
    damaged = [flipped(len(body) - 1), flipped(0), body[:20], body[:20] + b"\x40" + body[21:], body[:-1], flipped(85)]
    for damage in damaged:
        version = world.service.push(world.subscription["endpoint"], damage)
        until(lambda: world.service.acknowledged.get(version, 100) != 100, "a refusal")
    equal(world.notifications(), [])


def garbage_shows_a_text_and_is_not_listed(world):
    before = world.text()
    for garbage in [" ", "BisqMessage|x|y", "<b>hi</b>", "{}", "A" * 64, "OnionbellNotice|[]", "OnionbellNotice|{"]:
        world.close_notifications()
        world.push(garbage)
        world.shows("can't open")
    equal(world.text(), before)


def a_push_without_data_shows_a_text(world):
    world.close_notifications()
    world.service.browser.send(
        json.dumps(
            {
                "messageType": "notification",
                "version": "empty",
                "channelID": world.service.channels[world.subscription["endpoint"]],
            }
        )
    )
    world.shows("can't open")


def a_notice_of_the_node_is_told_from_bisqs(world):
    world.push(
        'OnionbellNotice|{"title": "Bisq is silent", "message": "for an hour", "type": "ERASE", "kind": "TRADE"}'
    )
    world.shows("Your node: Bisq is silent", "for an hour")
    world.listed("Bisq is silent", "once")
    assert world.firefox.run("return document.querySelector('.kind-NODE') !== null")


def without_network_page_and_list_are_there(world):
    world.host.stop()
    try:
        world.firefox.open("about:blank")
        world.firefox.open(f"{world.page}#/")
        world.listed("Notifications", "Angebot übernommen")
        world.push(bisq.bisq1(world.key, bisq.message("TRADE", "host down", "")))
        world.shows("host down")
    finally:
        world.host.start()


def without_a_tab_a_push_is_shown_and_kept(world):
    world.firefox.open("about:blank")
    version = world.push(bisq.bisq1(world.key, bisq.message("DISPUTE", "no tab", "open")))
    until(lambda: world.service.acknowledged.get(version) == 100, "Firefox's acknowledgement")
    world.firefox.open(world.page)
    world.listed("no tab")
    world.shows("no tab", "open")


def a_click_on_the_notification_opens_it(world):
    world.go("#/settings")
    world.close_notifications()
    world.push(bisq.bisq1(world.key, bisq.message("TRADE", "clicked", "in full", "Zz9")))
    world.shows("clicked")

    def clicked():
        """Firefox's window for the notification may be there before it listens: again until it does."""
        world.firefox.in_chrome("""
        for (const alert of Services.wm.getEnumerator("alert:alert")) alert.document.getElementById("alertBox")?.click();""")
        return "#/notice/" in world.firefox.run("return location.hash")

    until(clicked, "the notice's screen after a click on the notification")
    world.listed("in full", "Zz9")


def erase_empties_the_list_and_says_so(world):
    world.go("#/")
    world.push(bisq.bisq1(world.key, bisq.message("ERASE")))
    shown = world.shows("Bisq has erased all notifications")
    equal(len(shown), 1)
    until(lambda: len(world.notifications()) == 1, "only this notification")
    world.listed("No notifications yet")


def a_restart_of_the_browser_keeps_everything(world):
    world.push(bisq.bisq1(world.key, bisq.message("TRADE", "before", "the restart")))
    world.shows("before")
    world.firefox.stop(keeps_profile=True)
    world.firefox.start()
    world.firefox.open(world.page)
    world.listed("before")
    world.push(bisq.bisq1(world.key, bisq.message("TRADE", "behind", "the restart")))
    world.shows("behind")


def a_lost_subscription_is_renewed_and_the_user_is_told(world):
    """The push service has lost the browser; `pushsubscriptionchange` renews without the page."""
    world.firefox.open("about:blank")
    old = world.subscription["endpoint"]
    world.service.forget_browser()
    until(lambda: world.service.channels and old not in world.service.channels, "a new subscription")
    world.firefox.open(world.page)
    world.listed("This phone has a new address", "Pair again")
    world.shows("This phone has a new address")
    world.firefox.click("Pair again")
    world.token = until(world.token_shown, "the token")
    assert world.subscription["endpoint"] != old
    world.push(bisq.bisq1(world.key, bisq.message("SETUP_CONFIRMATION")))
    world.listed("Bisq has confirmed this phone.")
    world.go("#/")
    until(lambda: "This phone has a new address" not in world.text(), "no banner")


def withdrawn_permission_is_seen_at_the_next_opening(world):
    world.firefox.open("about:blank")
    world.firefox.allow(world.host.origin, "prompt")
    until(lambda: not world.service.channels, "Firefox telling its push service")
    world.firefox.open(world.page)
    world.listed("Notifications are off")
    world.firefox.allow(world.host.origin, "allow")
    world.firefox.click("Turn on again")
    world.listed("This phone has a new address")
    world.go("#/pair")
    world.token = until(world.token_shown, "the token")


def a_full_storage_still_shows_and_keeps_what_comes(world):
    """With Firefox's own limit of a few megabytes."""
    world.firefox.run("""const store = await import("./store.js");
        for (let number = 0; number < 40; number++)
            await store.keepPush({digest: `f${number}`, text: crypto.getRandomValues(new Uint8Array(60000)).join(), received: number, isRead: true,
                notice: {kind: "TRADE", title: `filling ${number}`, message: "", tradeId: "", sentDate: 0}});""")
    assert world.firefox.run("return (await (await import('./store.js')).allPushes()).length") < 35
    for number in range(3):
        world.push(bisq.bisq1(world.key, bisq.message("TRADE", f"into the full {number}", "kept")))
        world.shows(f"into the full {number}", "kept")
    world.go("#/")
    world.listed("into the full 0", "into the full 2")


def the_page_asks_only_its_own_host_for_its_own_files(world):
    paths = {request.split("?")[0] for request in world.host.requests}
    known = {path} | {f"/{file.relative_to(world.host.folder)}" for file in world.host.folder.rglob("*")}
    assert paths <= known, paths - known


checks = [
    without_permission_the_page_says_what_to_do,
    a_tap_and_the_browsers_question_lead_to_the_pairing_token,
    a_set_up_confirmation_shows_paired,
    a_message_of_bisq_1_is_opened_shown_and_listed,
    a_message_of_bisq_2_is_opened_shown_and_listed,
    padding_to_a_kilobyte_and_the_largest_body_are_opened,
    a_repetition_stands_once,
    damaged_bodies_are_refused_by_the_browser,
    garbage_shows_a_text_and_is_not_listed,
    a_push_without_data_shows_a_text,
    a_notice_of_the_node_is_told_from_bisqs,
    without_network_page_and_list_are_there,
    without_a_tab_a_push_is_shown_and_kept,
    a_click_on_the_notification_opens_it,
    erase_empties_the_list_and_says_so,
    a_restart_of_the_browser_keeps_everything,
    a_lost_subscription_is_renewed_and_the_user_is_told,
    withdrawn_permission_is_seen_at_the_next_opening,
    a_full_storage_still_shows_and_keeps_what_comes,
    the_page_asks_only_its_own_host_for_its_own_files,
]
