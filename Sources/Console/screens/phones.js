/* Phones and mailboxes: adding, naming, ringing, removing. */

import { call, told } from "../calls.js";
import { ask, button, copy, element, field, form, group, qrCode, row, say, textInput } from "../dom.js";
import { state } from "../state.js";
import { helpAgainst, lastRings, lastRung } from "./rings.js";

/** In place of the token that was added last, if Bisq 2 does not take that. */
let standIn = null;
/** What a mailbox has shown once; gone with the page. */
let made = null;
/** By phone: what its last ring has come to. It stays when the screen is drawn anew, at any moment. */
const rings = new Map();
/** By mailbox: what its last ring has come to. */
const boxRings = new Map();

export async function phonesScreen({ show }) {
    const { words } = state;
    const [book, boxes, page] = [await call("GET", "phones"), await call("GET", "mailboxes"), await call("GET", "page")];
    const { ways } = await call("GET", "ways");
    const hasMailboxes = ways.some(({ way, state }) => way === "mailbox" && state !== "off");
    // After the last answer: a ring may end while this screen asks.
    const [list, places] = [element("div", { id: "list" }), element("div", { id: "mailboxes" })];
    drawMailboxes(places, boxes.mailboxes, show);
    drawList(list, book, show);
    const drawLast = () => drawLastRings(list, places);
    await drawLast();
    return {
        title: words("tab_phones"),
        live: async (kind) => {
            if (kind === "state") return drawLast();
            if (kind === "mailboxes") {
                drawMailboxes(places, (await call("GET", "mailboxes")).mailboxes, show);
                return drawLast();
            }
            if (kind !== "phones") return;
            const now = await call("GET", "phones");
            if (list.dataset.book === JSON.stringify(now)) return;
            drawList(list, now, show);
            await drawLast();
        },
        nodes: [
            list,
            standIn ? element("section", { class: "card", id: "stand-in" }, element("p", {}, words("stand_in")),
                element("div", { class: "once" }, element("code", { tabindex: 0 }, standIn),
                    button(words("copy"), () => copy(standIn), { class: "small", icon: "copy" })),
                button(words("done"), () => { standIn = null; show(); }, { class: "secondary" })) : null,
            adding(show),
            page.link ? withoutApp(page.link) : null,
            made ? shownOnce(made, show) : null,
            mailboxes(places, hasMailboxes, show),
            element("div", { class: "group" }, row(words("ways_title"), () => { location.hash = "#/ways"; })),
        ],
    };
}

function drawList(place, book, show) {
    place.dataset.book = JSON.stringify(book);
    place.replaceChildren(book.phones.length > 0
        ? group("", book.phones.map((phone) => phoneRow(phone, book, show)))
        : element("p", {}, state.words("phones_none")));
}

/** Says of each phone and mailbox when it was rung last, and leaves the rest of its row as it is. */
async function drawLastRings(...places) {
    const rung = await lastRings();
    for (const row of places.flatMap((place) => [...place.querySelectorAll(".phone")])) {
        row.querySelector(".last").textContent = lastRung(rung.get(row.dataset.mailbox ?? Number(row.dataset.number)));
    }
}

const withoutApp = (link) => element("section", { class: "card", id: "page" },
    element("h2", {}, state.words("page_title")), element("p", {}, state.words("page_text")),
    element("div", { class: "once" }, element("code", { tabindex: 0 }, link),
        button(state.words("copy"), () => copy(link), { class: "small", icon: "copy" }),
        element("details", {}, element("summary", {}, state.words("qr_code")),
            element("div", { class: "code" }, qrCode(link, state.words("page_title"))))));

function phoneRow(phone, book, show) {
    const { words } = state;
    const last = rings.get(phone.number);
    const twins = book.phones.filter(({ name, model, platform, app }) =>
        name === phone.name && model === phone.model && platform === phone.platform && app === phone.app);
    const about = [phone.model || phone.platform, phone.app, twins.length > 1 ? `#${phone.number}` : null].filter(Boolean).join(", ");
    return element("div", { class: "phone", "data-number": phone.number },
        element("div", { class: "texts" }, element("strong", {}, phone.name), element("span", { class: "soft" }, about),
            element("span", { class: "soft last" })),
        element("div", { class: "buttons" },
            button(words("ring"), () => ring(phone), { class: "small ring", disabled: last?.isOpen }),
            book.phones.find(({ name }) => name === phone.name) === phone
                && book.phones.filter(({ name }) => name === phone.name).length > 1
                ? button(words("address_action"), () => giveAddress(phone.name), { class: "small" }) : null,
            button(words("rename"), () => rename(phone.name, show), { class: "small" }),
            button(words("remove"), () => remove(phone, show), { class: "small danger" })),
        element("p", { class: "outcome", role: "status" }, last?.text ?? ""));
}

async function ring({ number }) {
    const says = (text, isOpen) => {
        rings.set(number, { text, isOpen });
        const row = document.querySelector(`.phone[data-number="${number}"]`);
        if (!row) return;
        row.querySelector(".outcome").textContent = text;
        row.querySelector(".ring").disabled = isOpen;
    };
    says(state.words("ringing"), true);
    const isAdded = state.added?.number === number;
    const fault = await told(async () => {
        const body = isAdded ? { pairing_token: state.added.token } : {};
        says(outcomeWords(await call("POST", `phones/${number}/ring`, body), isAdded), false);
    });
    if (fault) says(fault, false);
}

/** Without the phone's key nothing is to be seen on it, and it says so. */
function outcomeWords({ outcome, reason, help }, hasKey) {
    const { words } = state;
    const said = words(`rung_${outcome}`, { reason: reason ?? "" }).trim();
    const text = [said, reason && !said.includes(reason) ? reason : null, help ? `(${helpAgainst(reason, help)})` : null].filter(Boolean).join(" ");
    return outcome === "delivered" && !hasKey ? `${text} ${words("rung_blind")}` : text;
}

async function remove(phone, show) {
    const { words } = state;
    if (!(await ask(words("remove_confirm", { name: phone.name }), words("remove")))) return;
    const fault = await told(() => call("DELETE", `phones/${phone.number}`));
    rings.delete(phone.number);
    await show();
    if (fault) say(fault);
}

function rename(name, show) {
    const { words } = state;
    const input = element("input", { value: name, maxlength: 80, "aria-describedby": "fault" });
    const dialog = element("dialog", { "aria-label": words("rename"), onclose: () => dialog.remove() },
        form([field(words("name"), input)], words("rename"), () => told(async () => {
            await call("PUT", `names/${encodeURIComponent(name)}`, { name: input.value.trim() });
            dialog.close();
            await show();
        })),
        button(words("cancel"), () => dialog.close(), { class: "secondary" }));
    document.body.append(dialog);
    dialog.showModal();
}

/** Bisq takes a pairing token, so that of one phone is needed: the node has no keys. */
function giveAddress(name) {
    const { words } = state;
    const token = textInput();
    const result = element("div", { class: "once", role: "status" });
    const dialog = element("dialog", { "aria-label": words("address_action"), onclose: () => dialog.remove() },
        element("p", {}, words("address_text")),
        form([field(words("pairing_token"), token)], words("address_make"), () => told(async () => {
            const text = (await call("PUT", `names/${encodeURIComponent(name)}/address`, { pairing_token: token.value.trim() }))
                .pairing_token;
            result.replaceChildren(element("code", { tabindex: 0 }, text),
                button(words("copy"), () => copy(text), { class: "small", icon: "copy" }));
        })),
        result, button(words("done"), () => dialog.close(), { class: "secondary" }));
    document.body.append(dialog);
    dialog.showModal();
}

function adding(show) {
    const { words } = state;
    const name = element("input", { id: "name", maxlength: 80, autocomplete: "off", autocapitalize: "off" });
    const token = textInput();
    token.id = "token";
    return element("section", { class: "card", id: "add" }, element("h2", {}, words("phone_add")),
        element("p", {}, words("phone_add_text")),
        form([field(words("name"), name), field(words("pairing_token"), token)], words("add"), () => told(async () => {
            const text = token.value.trim();
            const { number, stand_in } = await call("POST", "phones", { name: name.value.trim(), pairing_token: text });
            state.added = { number, token: text };
            standIn = stand_in;
            await show();
            say(words("phone_added"));
            document.querySelector(`.phone[data-number="${number}"] .ring`)?.focus();
        })),
        element("p", { class: "soft" }, words("phone_key_note")));
}

// MARK: Mailboxes

function drawMailboxes(place, list, show) {
    const { words } = state;
    if (place.dataset.list === JSON.stringify(list)) return;
    place.dataset.list = JSON.stringify(list);
    place.replaceChildren(...list.map((box) => element("div", { class: "phone", "data-mailbox": box.name },
        element("div", { class: "texts" }, element("strong", {}, box.name),
            element("span", { class: "soft" }, words("mailbox_waiting", { count: box.waiting })), element("span", { class: "soft last" })),
        element("div", { class: "buttons" },
            button(words("ring"), async (event) => {
                const outcome = event.target.closest(".phone").querySelector(".outcome");
                const says = (text) => { boxRings.set(box.name, text); outcome.textContent = text; };
                const fault = await told(async () => {
                    const ring = await call("POST", `mailboxes/${encodeURIComponent(box.name)}/ring`);
                    says(words(`mailbox_rung_${ring.outcome}`));
                });
                if (fault) says(fault);
            }, { class: "small" }),
            button(words("remove"), async () => {
                if (!(await ask(words("mailbox_remove_confirm", { name: box.name }), words("remove")))) return;
                const fault = await told(() => call("DELETE", `mailboxes/${encodeURIComponent(box.name)}`));
                boxRings.delete(box.name);
                await show();
                if (fault) say(fault);
            }, { class: "small danger" })),
        element("p", { class: "outcome", role: "status" }, boxRings.get(box.name) ?? ""))));
}

function mailboxes(places, isOn, show) {
    const { words } = state;
    const name = element("input", { id: "mailbox", maxlength: 64, autocomplete: "off", autocapitalize: "off" });
    return element("section", { class: "card" }, element("h2", {}, words("mailboxes")),
        element("p", {}, words("mailboxes_text")),
        places,
        isOn ? form([field(words("name"), name)], words("mailbox_make"), () => told(async () => {
            made = await call("POST", "mailboxes", { name: name.value.trim() });
            await show();
        })) : element("p", {}, words("mailboxes_off"), " ", element("a", { href: "#/ways" }, words("ways_title"))));
}

/** A QR code for the ntfy app, and one for `onionbell receive` or a Bisq that still reads one. */
function shownOnce(box, show) {
    const { words } = state;
    const secret = (label, text) => element("div", { class: "once" }, element("h3", {}, label),
        element("code", { tabindex: 0 }, text), button(words("copy"), () => copy(text), { class: "small", icon: "copy" }),
        element("details", {}, element("summary", {}, words("qr_code")), element("div", { class: "code" }, qrCode(text, label))));
    return element("section", { class: "card", id: "made" }, element("h2", {}, words("mailbox_made", { name: box.name })),
        element("p", {}, words("shown_once")),
        secret(words("mailbox_token"), box.pairing_token),
        secret(words("mailbox_address"), box.url ?? box.topic),
        box.readers.filter(({ token }) => token).map(({ name, token }) => secret(words("mailbox_reader", { name }), token)),
        button(words("done"), () => { made = null; show(); }, { class: "primary" }));
}
