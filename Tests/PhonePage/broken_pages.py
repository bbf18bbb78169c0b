"""The page broken on purpose: each fault has to be found by the check that is there for it.

A fault is (what is broken, file, the text that is replaced, its replacement, the check that has to fail).
"""

import re
import shutil

import bench
import checks
import host_checks
import message_checks
import pairing_checks
import screens_checks
from chromium import Chromium

faults = [
    (
        "no padding block",
        "messages.js",
        "whole.set(padding, ciphertext.length);",
        "",
        message_checks.messages_are_shown_and_kept_as_the_vectors_say,
    ),
    (
        "nothing is kept",
        "worker.js",
        "shown.id = await keepPush({ ...push, notice });",
        "",
        message_checks.messages_are_shown_and_kept_as_the_vectors_say,
    ),
    (
        "the magic is not checked",
        "messages.js",
        'if (magic !== "BisqMessageAndroid") throw new Unopened("magic");',
        "",
        message_checks.messages_are_shown_and_kept_as_the_vectors_say,
    ),
    (
        "ERASE is ignored",
        "worker.js",
        "shown.isIgnored = !(await erase({ ...push, notice }));",
        "shown.isIgnored = false;",
        message_checks.erase_empties_the_list,
    ),
    (
        "every ERASE is obeyed",
        "store.js",
        "if (!isObeyed(erase,",
        "if (false && !isObeyed(erase,",
        message_checks.an_erase_that_is_forged_old_ahead_or_repeated_erases_nothing,
    ),
    (
        "ERASE erases what was sent after it",
        "store.js",
        "before.filter((push) => isErased(push, sentDate))",
        "before",
        message_checks.erase_erases_only_what_was_sent_before_it,
    ),
    (
        "a flood pushes out what came before it",
        "store.js",
        "return await insert(push, dropBetween);",
        "return await keepPush(push);",
        screens_checks.a_flood_on_a_locked_page_pushes_out_nothing_that_came_before,
    ),
    (
        "nothing is shown for garbage",
        "worker.js",
        "    await show(shown, preferences);",
        '    if (shown.kind !== "unreadable") await show(shown, preferences);',
        message_checks.every_garbage_shows_a_notification,
    ),
    (
        "the worker keeps nothing for offline",
        "worker.js",
        "if (files.length === 0) return;",
        "return;",
        host_checks.without_network_everything_opens,
    ),
    (
        "a full storage is not met",
        "store.js",
        "await letOldestGo((count) => Math.floor(count / 2));",
        "",
        message_checks.a_full_storage_lets_the_oldest_half_go,
    ),
    (
        "nobody is told of a full storage",
        "worker.js",
        "shown.isLost = true;",
        "",
        message_checks.what_can_not_be_kept_is_shown_and_says_so,
    ),
    (
        "the store has no bound",
        "store.js",
        "drop(pushes, (count) => count - capacity)",
        "undefined",
        message_checks.thousands_of_notifications_leave_the_newest_thousand,
    ),
    (
        "a stuck storage is waited for",
        "worker.js",
        "within(longestWork, work())",
        "work()",
        message_checks.a_storage_that_never_answers_does_not_silence_a_push,
    ),
    (
        "no policy",
        "index.html",
        r"<meta http-equiv=[^>]*>",
        "",
        host_checks.policy_refuses_inline_code_markup_and_other_hosts,
    ),
    (
        "one storage for all pages of a host",
        "store.js",
        'new URL("./", import.meta.url).pathname',
        '"/"',
        host_checks.two_pages_on_one_host_share_nothing,
    ),
    (
        "a picture from elsewhere",
        "index.html",
        "</main>",
        '</main><img alt="" src="https://example.invalid/x.png">',
        host_checks.no_request_leaves_the_pages_own_folder,
    ),
    (
        "the sign of the point is lost",
        "pairing.js",
        "2 + (point[64] & 1)",
        "2",
        message_checks.tokens_are_those_of_the_vectors,
    ),
    (
        "no VAPID key",
        "subscription.js",
        "applicationServerKey: fromBase64URL(vapidKey)",
        "applicationServerKey: new Uint8Array()",
        pairing_checks.the_fragment_gives_the_key_and_leaves_the_address,
    ),
    (
        "a link's key is taken unasked",
        "app.js",
        'key && (await askHere(words("phone_take_confirm"), words("phone_take_action")))',
        "key",
        pairing_checks.a_link_never_replaces_keys_without_asking,
    ),
    (
        "QR codes without correction",
        "qr.js",
        "remainder[at] ^= product(coefficient, factor)",
        "remainder[at] ^= 0",
        pairing_checks.the_pairing_token_comes_first_and_as_text,
    ),
    (
        "the key stays in clear",
        "state.js",
        "({ key, ...now }) => ({ ...now, wrapped })",
        "(now) => ({ ...now, wrapped })",
        screens_checks.a_passcode_seals_the_key_and_what_comes,
    ),
    (
        "opened texts stay in clear",
        "state.js",
        "({ notice, ...push }) => push);",
        "(push) => push);",
        screens_checks.a_passcode_seals_the_key_and_what_comes,
    ),
    (
        "what a passcode locks is kept in clear",
        "store.js",
        "pushes.add(pairing.wrapped ? sealed : push)",
        "pushes.add(push)",
        screens_checks.a_push_is_kept_as_the_pairing_of_that_moment_wants_it,
    ),
    (
        "a key stays open behind another passcode",
        "state.js",
        "if (!isSameSeal(state.pairing.wrapped, state.opened)) lock();",
        "if (false) lock();",
        screens_checks.what_another_window_locks_is_locked_here_too,
    ),
    (
        "the report tells the endpoint",
        "screens/settings.js",
        '"push service": hostOf(pairing.subscription)',
        '"push service": pairing.subscription.endpoint',
        screens_checks.the_report_holds_no_secret,
    ),
    (
        "titles are cut",
        "style.css",
        ".texts strong { font-weight: 500; line-height: 1.3; }",
        ".texts strong { font-weight: 500; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }",
        screens_checks.nothing_is_cut_on_a_small_phone_in_any_language,
    ),
    (
        "the token goes out by mail",
        "screens/pair.js",
        'element("p", { class: "note" }, words("pair_secret"))',
        'element("a", { href: `mailto:?body=${token}` }, words("pair_secret"))',
        pairing_checks.nothing_offers_to_send_the_token_away,
    ),
    (
        "any Bisq has a webcam",
        "languages/es.js",
        "Pegue este token",
        "Escanee el código con la cámara web o pegue este token",
        pairing_checks.no_text_sends_somebody_to_a_webcam_but_with_a_version,
    ),
    (
        "grey on grey",
        "style.css",
        "--soft: #5f5a68;",
        "--soft: #a5a2aa;",
        screens_checks.every_screen_is_accessible_in_light_and_dark,
    ),
    (
        "a picture without a name",
        "dom.js",
        'role: "img", "aria-label": label }',
        'role: "img" }',
        screens_checks.every_screen_is_accessible_in_light_and_dark,
    ),
    (
        "the list stands still on a busy page",
        "screens/list.js",
        "changes.at(-1)",
        "changes[0]",
        screens_checks.an_end_that_went_and_came_while_the_page_was_busy_is_drawn,
    ),
    (
        "focus is not seen",
        "style.css",
        ":focus-visible { outline: 3px",
        ":focus-visible { outline: 0",
        screens_checks.the_keyboard_reaches_everything,
    ),
]


def with_fault(text, old, new):
    return re.sub(old, new, text) if old.startswith("<meta") else text.replace(old, new)


def every_fault_has_its_place_in_the_page(root, work):
    for what, name, old, new, _ in faults:
        text = (root / "Sources/PhonePage" / name).read_text()
        assert with_fault(text, old, new) != text, f"{what}: {old!r} is not in {name}"


def run(deployed):
    """`deployed` makes a folder with the page. Markup gets a fault of its own: it needs two changes."""
    browser = Chromium()
    whole = deployed("whole")
    checks.patience.seconds = 2.5
    try:
        for number, fault in enumerate(faults):
            is_found(browser, shutil.copytree(whole, whole.with_name(f"broken-{number}")), *fault)
    finally:
        browser.stop()


def is_found(browser, folder, what, name, old, new, check):
    path = folder / bench.path.strip("/") / name
    text = path.read_text()
    broken = with_fault(text, old, new)
    place = bench.Bench(folder, browser)
    place.flood = 1500

    def the_fault_is_found():
        assert broken != text, f"{old!r} is not in {name}"
        path.write_text(broken)
        try:
            check(place)
        except AssertionError as failure:
            print(f"   {what}: {' '.join(str(failure).split())[:140]}")  # that it is this fault, and no other
            return
        raise AssertionError(f"{check.__name__} does not see it")

    the_fault_is_found.__name__ = f"found:_{what}"
    try:
        checks.run(the_fault_is_found)
    finally:
        place.stop()
