/* Elements. Texts go in as text alone; nothing here takes markup. */

import { modulesFor } from "./qr.js";
import { paths } from "./icons.js";
import { state } from "./state.js";

const svgNamespace = "http://www.w3.org/2000/svg";

/** Attributes that begin with `on` are listeners; `true` sets an attribute without a value, `false` and null none. */
export function element(name, attributes = {}, ...children) {
    return filled(document.createElement(name), attributes, children);
}

const drawing = (name, attributes, ...children) =>
    filled(document.createElementNS(svgNamespace, name), attributes, children);

function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
        else if (value === true) node.setAttribute(name, "");
        else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return node;
}

/** Decoration for who sees it; the text beside it says the same. */
export const icon = (name) =>
    drawing("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, drawing("path", { d: paths[name] }));

/** An icon on its colour, for a notification's kind. */
export const badge = (kind) => element("span", { class: `badge kind-${kind}` }, icon(kind));

export function qrCode(text, label) {
    const rows = modulesFor(text);
    const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
    const quiet = 4;
    const size = rows.length + 2 * quiet;
    return drawing("svg", { class: "qr", viewBox: `${-quiet} ${-quiet} ${size} ${size}`, role: "img", "aria-label": label },
        drawing("rect", { x: -quiet, y: -quiet, width: size, height: size, fill: "#fff" }),
        drawing("path", { d: path, fill: "#000", "shape-rendering": "crispEdges" }));
}

export const button = (text, onclick, options = {}) =>
    element("button", { type: "button", class: options.class, disabled: options.disabled, onclick }, options.icon ? icon(options.icon) : null, text);

/** A line of a group that leads somewhere or does something. */
export const row = (text, onclick, options = {}) =>
    element("button", { type: "button", class: `row ${options.class ?? ""}`, onclick },
        options.icon ? icon(options.icon) : null, element("span", {}, text), options.isAction ? null : icon("forward"));

export const fact = (name, value) =>
    element("div", { class: "row" }, element("dt", {}, name), element("dd", {}, value));

/** A group of rows under a heading, as native settings have them. */
export const group = (heading, rows, note) =>
    element("section", {}, heading ? element("h2", {}, heading) : null, element("div", { class: "group" }, rows),
        note ? element("p", { class: "note" }, note) : null);

/** A text for a moment, spoken by screen readers. */
export function say(text) {
    const toast = document.getElementById("toast");
    toast.textContent = text;
    toast.classList.add("is-shown");
    clearTimeout(say.timer);
    say.timer = setTimeout(() => toast.classList.remove("is-shown"), 4000);
}

/** Asks before what can't be undone. */
export function ask(question, action) {
    const { words } = state;
    return new Promise((resolve) => {
        const answer = (isYes) => {
            dialog.remove();
            resolve(isYes);
        };
        const dialog = element("dialog", { "aria-labelledby": "question", onclose: () => answer(false) },
            element("p", { id: "question" }, question),
            element("div", { class: "choices" },
                button(words("cancel"), () => answer(false)),
                button(action, () => answer(true), { class: "danger" })));
        document.body.append(dialog);
        dialog.showModal();
    });
}

export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say(state.words("copied"));
    } catch {
        say(state.words("copy_failed"));
    }
}

/** A form of one or more fields that shows what is wrong below them. `onsubmit` gives that text, or nothing. */
export function form(fields, action, onsubmit) {
    const fault = element("p", { class: "fault", role: "alert", id: "fault" });
    const submit = element("button", { type: "submit", class: "primary" }, action);
    return element("form", { novalidate: true, onsubmit: async (event) => {
        event.preventDefault();
        submit.disabled = true;
        fault.textContent = "";
        try {
            fault.textContent = (await onsubmit()) ?? "";
        } catch (error) {
            fault.textContent = state.words("failed_other", { error: `${error.name}: ${error.message}` });
        } finally {
            submit.disabled = false;
        }
    } }, fields, fault, submit);
}

/** For keys and links: as they are, without a keyboard's help. */
export const textInput = () => element("textarea", {
    rows: 3, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": "fault",
});

export const field = (label, input) => element("label", { class: "field" }, element("span", {}, label), input);
