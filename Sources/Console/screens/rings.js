/* The last rings: when, to whom, by whom, and what became of each. */

import { call } from "../calls.js";
import { element, icon } from "../dom.js";
import { state } from "../state.js";

/** Endpoints that have words; any other, and none, goes unnamed. */
const endpoints = new Set(["bisq1", "bisq2", "peer", "web_push", "phone_test", "watchman", "status", "bitwarden", "gorush"]);

const shownAtOnce = 10;

const timeOf = (seconds) => {
    const isToday = new Date(seconds * 1000).toDateString() === new Date().toDateString();
    return new Intl.DateTimeFormat(state.language, isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "short" })
        .format(seconds * 1000);
};

const spanOf = (milliseconds) => new Intl.NumberFormat(state.language,
    milliseconds < 120_000
        ? { style: "unit", unit: "second", maximumFractionDigits: milliseconds < 10_000 ? 1 : 0 }
        : { style: "unit", unit: "minute", maximumFractionDigits: 0 }).format(milliseconds / (milliseconds < 120_000 ? 1000 : 60_000));

/** What became of a ring, as a sentence. */
const sentenceOf = ({ outcome, reason, milliseconds }) =>
    state.words(`ring_${outcome}`, { reason: reason ?? "", span: spanOf(milliseconds) });

/** When a phone rang last, for its row; the ring is undefined where nothing is known of one. */
export const lastRung = (ring) => (ring ? state.words("ring_last", { time: timeOf(ring.at), sentence: sentenceOf(ring) }) : "");

/** The last ring of each phone, by its number. */
export async function lastRings() {
    return new Map((await call("GET", "rings")).last.map(({ phone, ring }) => [phone, ring]));
}

/** The list for the screen, drawn anew by its `draw`. */
export async function ringsList() {
    const place = element("section", { class: "card", id: "rings" });
    const draw = async () => {
        const answer = await call("GET", "rings");
        const text = JSON.stringify(answer);
        if (place.dataset.text === text) return;
        place.dataset.text = text;
        const isOpen = place.querySelector("details")?.open ?? false;
        place.replaceChildren(...content(answer, isOpen));
    };
    await draw();
    return { place, draw };
}

function content({ rings, refused }, isOpen) {
    const { words } = state;
    const [first, others] = [rings.slice(0, shownAtOnce), rings.slice(shownAtOnce)];
    return [
        element("h2", {}, words("rings_title")),
        rings.length === 0 ? element("p", {}, words("rings_none")) : listOf(first.map(rowOf)),
        others.length === 0 ? null : element("details", { open: isOpen },
            element("summary", {}, words("rings_more", { count: others.length }), icon("forward")), listOf(others.map(rowOf))),
        refused.length === 0 ? null : element("h3", {}, words("rings_refused")),
        refused.length === 0 ? null : listOf(refused.map(refusedRow)),
        element("p", { class: "note" }, words("rings_note")),
    ].filter(Boolean);
}

const listOf = (rows) => element("ul", { class: "inner events" }, rows);

function rowOf(ring) {
    const { words } = state;
    const whom = ring.name ?? words("ring_device", { device: ring.device });
    const by = endpoints.has(ring.endpoint) ? words(`ring_by_${ring.endpoint}`) : null;
    const isBad = ring.outcome !== "delivered" && ring.outcome !== "kept";
    return element("li", { class: isBad ? "is-failing" : "is-ok" },
        element("time", { datetime: new Date(ring.at * 1000).toISOString() }, timeOf(ring.at)),
        element("strong", {}, whom),
        element("span", {}, [sentenceOf(ring), ring.app, by].filter(Boolean).join(" · ")),
        ring.help ? element("small", { lang: "en" }, ring.help) : null);
}

const refusedRow = ({ at, endpoint, reason, help, count }) => element("li", {},
    element("time", { datetime: new Date(at * 1000).toISOString() }, timeOf(at)),
    element("strong", {}, `${count} × ${reason}`),
    element("span", {}, endpoints.has(endpoint) ? state.words(`ring_by_${endpoint}`) : endpoint),
    element("small", { lang: "en" }, help));
