/* The browsers that have entered, and the console's own onion address. */

import { call, Refused, told } from "../calls.js";
import { ask, button, copy, element, qrCode, say } from "../dom.js";
import { state } from "../state.js";
import { outcomeOf, propose, switchOf } from "../switches.js";

/** Nothing where the login is that of a platform. */
async function orNothing(asked) {
    try {
        return await asked;
    } catch (error) {
        if (!(error instanceof Refused) || error.status === 401 || error.status === 0) throw error;
        return null;
    }
}

export async function browsers(show) {
    const { words } = state;
    const answer = await orNothing(call("GET", "sessions"));
    if (!answer) return null;
    const format = new Intl.DateTimeFormat(state.language, { dateStyle: "medium", timeStyle: "short" });
    const end = async ({ id, browser }) => {
        if (!(await ask(words("session_end_confirm", { browser: browser || words("session_unknown") }), words("session_end")))) return;
        const fault = await told(() => call("DELETE", `sessions/${id}`));
        await show();
        if (fault) say(fault);
    };
    return element("section", { class: "card", id: "sessions" }, element("h2", {}, words("sessions_title")),
        answer.sessions.toSorted((one, other) => other.used - one.used).map((one) => element("div", { class: "phone" },
            element("div", { class: "texts" }, element("strong", {}, one.browser || words("session_unknown")),
                element("span", { class: "soft" }, one.own ? words("session_own")
                    : one.used === 0 ? words("session_unused") : words("session_used", { time: format.format(one.used * 1000) }))),
            one.own ? null : element("div", { class: "buttons" }, button(words("session_end"), () => end(one), { class: "small danger" })))));
}

/** Where Tor Browser finds this page, and who may; or the switch for it. */
export async function onionAddress(show) {
    const { words } = state;
    const keys = await orNothing(call("GET", "console-keys"));
    if (!keys) return null;
    const isOn = Boolean(keys.address);
    const plan = element("div", { role: "status" });
    const listen = isOn ? keys.listen.filter((place) => place !== "onion") : [...keys.listen, "onion"];
    const change = () => propose(plan, {
        name: "onion", show, action: words(isOn ? "way_turn_off" : "way_turn_on"),
        ask: () => call("POST", "settings/check", { changes: { "console.listen": `[${listen.join(", ")}]` } }),
        sentences: (checked) => [words(isOn ? "onion_off" : "onion_on"),
            checked.console_off ? element("p", { class: "fault" }, words("settings_closes_all")) : null].filter(Boolean),
    });
    const link = `http://${keys.address}`;
    const place = () => [element("p", {}, words("onion_text")),
        element("div", { class: "once" }, element("code", { tabindex: 0 }, link), button(words("copy"), () => copy(link), { class: "small", icon: "copy" }),
            element("details", {}, element("summary", {}, words("qr_code")), element("div", { class: "code" }, qrCode(link, words("onion_title"))))),
        element("p", { class: "soft" }, keys.private ? words("onion_private", { names: keys.names.join(", ") || "–" }) : words("onion_public"))];
    return element("section", { class: "card", id: "onion" },
        element("div", { class: "phone" }, element("h2", {}, words("onion_title")), switchOf(words("onion_title"), isOn, change)),
        ...(isOn ? place() : [element("p", { class: "soft" }, words("onion_none"))]), outcomeOf("onion"), plan);
}
