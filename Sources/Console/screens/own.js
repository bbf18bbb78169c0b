/* Whether only phones of the book are rung: a switch for each way to phones. */

import { call } from "../calls.js";
import { element } from "../dom.js";
import { state } from "../state.js";
import { outcomeOf, propose, switchOf } from "../switches.js";

export async function onlyMine(show, book) {
    const { words } = state;
    const { targets } = await call("GET", "settings");
    if (targets.length === 0) return null;
    const emptiness = () => (book.phones.length === 0 ? element("p", { class: "fault" }, words("mine_empty")) : null);
    const rowOf = ({ app, mine }) => {
        const plan = element("div", { role: "status" });
        const change = () => propose(plan, {
            name: `mine ${app}`, show, action: words(mine ? "way_turn_off" : "way_turn_on"),
            ask: () => call("POST", "settings/check", { changes: { [`apps[${app}].targets`]: mine ? "any" : "phone_book" } }),
            sentences: () => [words(mine ? "mine_will_not" : "mine_will", { app }), mine ? null : emptiness()],
        });
        return element("div", { class: "mine" }, element("div", { class: "phone" },
            element("div", { class: "texts" }, element("strong", {}, app), element("span", { class: "soft" }, words(mine ? "mine_on" : "mine_off"))),
            switchOf(`${words("mine_title")}: ${app}`, mine, change)), outcomeOf(`mine ${app}`), plan);
    };
    return element("section", { class: "card", id: "mine" }, element("h2", {}, words("mine_title")),
        element("p", {}, words("mine_text")), element("p", { class: "soft" }, words("mine_note")),
        targets.some(({ mine }) => mine) ? emptiness() : null, targets.map(rowOf));
}
