/* The ways to phones, each with a switch. */

import { call } from "../calls.js";
import { lastRestart } from "../changes.js";
import { button, element, field, form } from "../dom.js";
import { state } from "../state.js";
import { outcomeOf, propose, switchOf } from "../switches.js";
import { onlyMine } from "./own.js";

/** Ways that need an address, with an example of one. */
const examples = { phone_page: "https://phone.example.org/phone/", ntfy: "https://ntfy.sh" };

export async function waysScreen({ show }) {
    const { words } = state;
    const [{ ways }, book] = [await call("GET", "ways"), await call("GET", "phones")];
    const own = await onlyMine(show, book);
    const cards = ways.map((way) => cardOf(way, show));
    return {
        title: words("ways_title"),
        live: async (kind) => {
            if (kind !== "state") return;
            const now = (await call("GET", "ways")).ways;
            for (const [index, card] of cards.entries()) card.draw(now[index]);
        },
        nodes: [lastRestart(), element("p", { class: "soft" }, words("ways_text")), ...cards.map(({ place }) => place), own].filter(Boolean),
    };
}

function cardOf(way, show) {
    const { words } = state;
    const [head, line, plan] = [element("div", { class: "phone" }), element("p", { class: "state" }), element("div", { role: "status" })];
    const turn = (isOn, address, result = plan) => propose(result, {
        name: way.way, show, action: words(isOn ? "way_turn_on" : "way_turn_off"),
        ask: () => call("POST", "ways/check", { way: way.way, on: isOn, ...(address ? { address } : {}) }),
        sentences: ({ reach, places }) => (isOn
            ? [words(`way_${way.way}_on`), words(`reach_${reach}`, { places: places.join(", ") })] : [words(`way_${way.way}_off`)]),
    });
    const flip = (isOn) => (isOn && way.way in examples ? askForAddress(plan, way, turn) : turn(isOn));
    const draw = (now) => {
        if (head.dataset.now === JSON.stringify(now)) return;
        head.dataset.now = JSON.stringify(now);
        const isClear = now.state === "on" || now.state === "off";
        head.replaceChildren(
            element("div", { class: "texts" }, element("h2", {}, words(`way_${way.way}`)),
                element("span", { class: "soft" }, words(`way_${way.way}_text`))),
            isClear ? switchOf(words(`way_${way.way}`), now.state === "on", () => flip(now.state !== "on"))
                : button(words("way_turn_off"), () => turn(false), { class: "small" }));
        line.className = `state ${{ on: "is-good", failing: "is-bad" }[now.state] ?? ""}`;
        line.replaceChildren(...lineOf(now));
    };
    draw(way);
    return { draw, place: element("section", { class: "card way", id: `way-${way.way}` }, head, line, outcomeOf(way.way), plan) };
}

/** How the way is, in a line. The node's own words are English. */
function lineOf({ state: now, reason, places, address }) {
    const where = [...places, address].filter(Boolean).join(", ");
    return [element("span", {}, state.words(`way_is_${now}`), now === "on" && where ? ` (${where})` : null,
        reason ? element("span", { lang: "en" }, ` ${reason}`) : null)];
}

function askForAddress(place, { way, address }, turn) {
    const { words } = state;
    const input = element("input", {
        type: "url", value: address, placeholder: examples[way], id: `address-${way}`, autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    });
    const result = element("div", {});
    place.replaceChildren(
        form([field(words(`way_${way}_address`), input)], words("way_look"), async () => {
            const text = input.value.trim();
            if (!text) return words("way_no_address");
            await turn(true, text, result);
        }),
        result);
    input.focus();
}
