/* Tokens by which a platform's widgets read how the node is. */

import { call, told, unfit } from "../calls.js";
import { ask, button, copy, element, field, form, say } from "../dom.js";
import { state } from "../state.js";

/** What was made last; gone with the page. */
let made = null;

export function widgets(names, show) {
    const { words } = state;
    const name = element("input", { id: "widget", maxlength: 64, autocomplete: "off", autocapitalize: "off" });
    return element("section", { class: "card" }, element("h2", {}, words("widgets")),
        element("p", {}, words("widgets_text")),
        names.map((name) => element("div", { class: "phone" },
            element("div", { class: "texts" }, element("strong", {}, name)),
            element("div", { class: "buttons" }, button(words("remove"), async () => {
                if (!(await ask(words("widget_remove_confirm", { name }), words("remove")))) return;
                const fault = await told(() => call("DELETE", `widget-tokens/${encodeURIComponent(name)}`));
                await show();
                if (fault) say(fault);
            }, { class: "small danger" })))),
        made ? shownOnce(made) : null,
        form([field(words("name"), name)], words("widget_make"), () => unfit(name.value.trim()) ?? told(async () => {
            made = await call("POST", "widget-tokens", { name: name.value.trim() });
            await show();
            made = null;
        })));
}

const shownOnce = ({ token }) => element("div", { class: "once" },
    element("p", {}, state.words("shown_once")),
    element("code", { tabindex: 0 }, token),
    button(state.words("copy"), () => copy(token), { class: "small", icon: "copy" }),
    element("p", { class: "soft" }, state.words("widget_where")),
    element("code", { tabindex: 0 }, new URL("api/v1/widget", document.baseURI).href));
