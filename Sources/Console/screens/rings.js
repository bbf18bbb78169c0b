/* The last rings: when, to whom, by whom, and what became of each. */

import { call, told } from "../calls.js";
import { button, element, icon } from "../dom.js";
import { lengthOf } from "../fields.js";
import { marked, said } from "../said.js";
import { state } from "../state.js";

/** Endpoints that have words; any other, and none, goes unnamed. */
const endpoints = new Set(["bisq1", "bisq2", "peer", "web_push", "phone_test", "watchman", "status", "bitwarden", "gorush"]);

/** The node's own reasons, which have words for their cause and what helps; others are a push service's. */
const reasons = new Set([
    "UnknownPlatform", "UnknownApp", "BadDeviceToken", "Unregistered", "BadMessage", "MessageTooLarge", "BadExpiry", "DuplicateUid", "Busy",
    "GatewayDisabled", "NotInPhoneBook", "Loop", "Expired", "Internal",
]);

const shownAtOnce = 10;

const timeOf = (seconds) => {
    const isToday = new Date(seconds * 1000).toDateString() === new Date().toDateString();
    return new Intl.DateTimeFormat(state.language, isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "short" })
        .format(seconds * 1000);
};

const spanOf = (milliseconds) => new Intl.NumberFormat(state.language,
    milliseconds < 120_000
        ? { style: "unit", unit: "second", ...(milliseconds < 10_000 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 }) }
        : { style: "unit", unit: "minute", maximumFractionDigits: 0 }).format(milliseconds / (milliseconds < 120_000 ? 1000 : 60_000));

/** What became of a ring, as a sentence. */
const sentenceOf = ({ outcome, reason, milliseconds }) =>
    state.words(`ring_${outcome}`, { reason: reason ?? "", span: spanOf(milliseconds) });

/** What helps against a reason, which is the node's own or a push service's. */
export const helpAgainst = (reason, help) => (reasons.has(reason) ? state.words(`refusal_${reason}`) : said(help ?? ""));

const helpLine = (reason, help) => (help
    ? element("small", { lang: reasons.has(reason) ? null : marked(help).lang }, helpAgainst(reason, help)) : null);

/** When a phone rang last, for its row; the ring is undefined where nothing is known of one. */
export const lastRung = (ring) => (ring ? state.words("ring_last", { time: timeOf(ring.at), sentence: sentenceOf(ring) }) : "");

/** The last ring of each phone by its number, and of each mailbox by its name. */
export async function lastRings() {
    return new Map((await call("GET", "rings")).last.map(({ phone, mailbox, ring }) => [phone ?? mailbox, ring]));
}

/** The list for the screen, drawn anew by its `draw`. */
export async function ringsList() {
    const place = element("section", { class: "card", id: "rings" });
    /** Rings before those of the first page, as far as somebody has asked for them. */
    let earlier = [];
    let isOpen = false;
    const draw = async () => {
        const answer = await call("GET", "rings");
        const text = JSON.stringify([answer, earlier.length, isOpen]);
        if (place.dataset.text === text) return;
        place.dataset.text = text;
        isOpen = place.querySelector("details")?.open ?? isOpen;
        place.replaceChildren(...content(answer, earlier, isOpen, more));
    };
    const more = () => told(async () => {
        const { rings } = await call("GET", `rings?skip=${(await call("GET", "rings")).rings.length + earlier.length}`);
        earlier = [...earlier, ...rings];
        await draw();
    });
    await draw();
    return { place, draw };
}

function content({ rings, refused, count, kept_seconds: kept }, earlier, isOpen, more) {
    const { words } = state;
    const [first, others] = [rings.slice(0, shownAtOnce), [...rings.slice(shownAtOnce), ...earlier]];
    const hasMore = rings.length + earlier.length < count;
    return [
        element("h2", {}, words("rings_title")),
        rings.length === 0 ? element("p", {}, words(kept > 0 ? "rings_none_kept" : "rings_none")) : listOf(first.map(rowOf)),
        others.length === 0 ? null : element("details", { open: isOpen },
            element("summary", {}, words("rings_more", { count: count - first.length }), icon("forward")), listOf(others.map(rowOf)),
            hasMore ? button(words("rings_older"), more, { class: "small older" }) : null),
        refused.length === 0 ? null : element("h3", {}, words("rings_refused")),
        refused.length === 0 ? null : listOf(refused.map(refusedRow)),
        element("p", { class: "note" }, kept > 0 ? words("rings_note_kept", { span: lengthOf(kept) }) : words("rings_note"), " ",
            element("a", { href: "#/settings" }, words("rings_keep"))),
    ].filter(Boolean);
}

const listOf = (rows) => element("ul", {}, rows);

function rowOf(ring) {
    const { words } = state;
    const whom = ring.name ?? (ring.mailbox === null ? words("ring_device", { device: ring.device })
        : words("ring_mailbox", { name: ring.mailbox }));
    const by = endpoints.has(ring.endpoint) ? words(`ring_by_${ring.endpoint}`) : null;
    const isBad = !["delivered", "kept", "placed"].includes(ring.outcome);
    return element("li", { class: isBad ? "is-failing" : "is-ok" },
        element("time", { datetime: new Date(ring.at * 1000).toISOString() }, timeOf(ring.at)),
        element("strong", {}, whom),
        element("span", {}, [sentenceOf(ring), ring.app, by].filter(Boolean).join(" · ")),
        helpLine(ring.reason, ring.help));
}

const refusedRow = ({ at, endpoint, reason, help, count }) => element("li", {},
    element("time", { datetime: new Date(at * 1000).toISOString() }, timeOf(at)),
    element("strong", {}, `${count} × ${reason}`),
    element("span", {}, endpoints.has(endpoint) ? state.words(`ring_by_${endpoint}`) : endpoint),
    helpLine(reason, help));
