/* How the node is, first in words. The checks speak in the node's own, which are English. */

import { call } from "../calls.js";
import { copy, element, fact, group, icon, row } from "../dom.js";
import { state } from "../state.js";
import { ringsList } from "./rings.js";
import { eventsOf, reaching, waitingOf } from "./waiting.js";

/** Seconds in which a tor that is not there yet is no fault. */
const starting = 180;

/** Of which nothing is known before tor has its first circuit. */
const ofTor = new Set(["self_dial", "front", "tor"]);

const isStarting = (node) => node.uptime < starting
    && node.checks.every(({ name, level }) => name === "onion" || level === "ok" || level === "warning" && ofTor.has(name));

export async function nowScreen() {
    const { words } = state;
    const place = element("div", { id: "now" });
    let later = 0;
    const draw = async () => {
        const node = await call("GET", "state");
        // What somebody reads is not moved while it says the same.
        const text = JSON.stringify(node.checks);
        if (place.dataset.checks !== text || !place.contains(document.activeElement)) {
            place.replaceChildren(...content(node, () => { place.dataset.checks = ""; return draw(); }));
        }
        place.dataset.checks = text;
        clearTimeout(later);
        if (node.status !== "ok" && isStarting(node)) {
            later = setTimeout(() => { if (place.isConnected) draw(); }, (starting - node.uptime) * 1000);
        }
    };
    await draw();
    const rings = await ringsList();
    const live = async (kind) => {
        if (kind !== "state" && kind !== "peers") return;
        await draw();
        await rings.draw();
    };
    return { title: words("tab_now"), live, nodes: [place, rings.place, reaching(), eventsOf((await call("GET", "history")).events), element("section", {}, element("div", { class: "group" },
        row(words("keep_title"), () => { location.hash = "#/keep"; }),
        row(words("settings_title"), () => { location.hash = "#/settings"; }),
        row(words("access_title"), () => { location.hash = "#/access"; }))),
    element("p", { class: "note" }, element("a", { href: "status.txt" }, words("as_text")))].filter(Boolean) };
}

function content(node, redraw) {
    const { words } = state;
    const faults = node.checks.filter(({ level }) => level !== "ok");
    const verdict = node.status !== "ok" ? isStarting(node) ? "starting" : node.status
        // That all works is shown by a delivery, and by nothing else.
        : node.last_day.delivered > 0 ? "ok" : "quiet";
    return [
        element("p", { class: `verdict is-${verdict}`, role: "status" },
            icon({ ok: "SETUP_CONFIRMATION", starting: "NODE", quiet: "NODE" }[verdict] ?? "DISPUTE"), words(`now_${verdict}`)),
        node.onion.invited === null ? null : element("p", { class: "card banner" }, words("is_private")),
        faults.length === 0 ? null : element("ul", { class: "card faults", lang: "en" }, faults.map((check) =>
            element("li", {}, element("strong", {}, `${check.name}: ${check.state}`),
                check.advice ? element("p", {}, check.advice) : null))),
        waitingOf(node, redraw),
        element("section", {}, element("dl", { class: "group" },
            fact(words("now_waiting"), node.outbox.waiting),
            fact(words("now_delivered"), node.last_day.delivered),
            fact(words("now_refused"), Object.values(node.last_day.refused).reduce((all, one) => all + one, 0)),
            fact(words("now_peers"), node.connections.peers),
            fact(words("now_uptime"), spanOf(node.uptime)),
            fact(words("now_version"), node.version))),
        refusalsOf(node.last_day),
        node.onion.address ? group(words("now_address"), [row(node.onion.address, () => copy(node.onion.address),
            { icon: "copy", isAction: true, class: "address" })]) : null,
        element("section", {}, element("h2", {}, words("now_gateways")), element("dl", { class: "group" },
            node.gateways.map((gateway) => fact(`${gateway.app}${gateway.environment === "production" ? "" : ` (${gateway.environment})`}`,
                gateway.blocked ?? (gateway.has_credentials
                    ? ringsOf(gateway)
                    : words("now_gateway_off")))))),
    ].filter(Boolean);
}

/** The reasons with their causes, in the node's own words, the most frequent first. */
function refusalsOf({ refused, help }) {
    const reasons = Object.entries(refused).sort(([, one], [, other]) => other - one);
    return reasons.length === 0 ? null : element("details", { class: "card", id: "refusals" },
        element("summary", {}, state.words("now_refusals"), icon("forward")),
        element("ul", { class: "inner events", lang: "en" }, reasons.map(([code, count]) => element("li", {},
            element("strong", {}, `${count} × ${code}`), element("span", {}, help[code] ?? "")))));
}

/** No count since the start: beside those of 24 hours it would say something else. */
function ringsOf({ waiting, since_last_delivery: age = null }) {
    const { words } = state;
    if (age === null) return words("now_gateway", { waiting });
    const time = new Intl.DateTimeFormat(state.language, { dateStyle: "short", timeStyle: "short" });
    return words("now_gateway_last", { waiting, time: time.format(Date.now() - age * 1000) });
}

function spanOf(seconds) {
    const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
    const [unit, size] = units.find(([, size]) => seconds >= size) ?? units[3];
    return new Intl.NumberFormat(state.language, { style: "unit", unit, unitDisplay: "long" })
        .format(Math.floor(seconds / size));
}
