/* Whether only phones of the book are rung: a setting of each way to phones. */

import { call, Refused } from "../calls.js";
import { button, element } from "../dom.js";
import { state } from "../state.js";
import { changed } from "./settings.js";

export async function onlyMine(show, book) {
    const { words } = state;
    const settings = await call("GET", "settings");
    if (settings.targets.length === 0) return null;
    const result = element("div", { role: "status" });
    const emptiness = () => (book.phones.length === 0 ? element("p", { class: "fault" }, words("mine_empty")) : null);
    const change = async (app, target) => {
        try {
            const checked = await call("POST", "settings/check", { changes: { [`apps[${app}].targets`]: target } });
            result.replaceChildren(...[target === "phone_book" ? emptiness() : null, ...changed(checked, settings, result, show)].filter(Boolean));
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            result.replaceChildren(element("p", { class: "fault", role: "alert" }, error.message));
        }
    };
    return element("section", { class: "card", id: "mine" }, element("h2", {}, words("mine_title")),
        element("p", {}, words("mine_text")), element("p", { class: "soft" }, words("mine_note")),
        settings.targets.some(({ mine }) => mine) ? emptiness() : null,
        settings.targets.map(({ app, mine }) => element("div", { class: "phone" },
            element("div", { class: "texts" }, element("strong", {}, app),
                element("span", { class: "soft" }, words(mine ? "mine_on" : "mine_off"))),
            element("div", { class: "buttons" }, button(words(mine ? "mine_open" : "mine_close"),
                () => change(app, mine ? "any" : "phone_book"), { class: "small" })))),
        result);
}
