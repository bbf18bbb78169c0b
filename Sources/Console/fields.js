/* Settings as people think of them: a length of time in a unit that is chosen, a choice in words, what holds without them, and a fault at its
   field. */

import { element } from "./dom.js";
import { marked } from "./said.js";
import { state } from "./state.js";

/** Units of a length of time, with their seconds. */
const units = { second: 1, minute: 60, hour: 3600, day: 86400 };

/** Choices that have words; others are names. */
const spoken = new Set(["true", "false", "own", "instance", "system"]);

/** Settings whose form is told in the reader's language. */
const forms = new Set(["gateways.proxy", "management.listen", "onion.public_address"]);

const wordOf = (key) => key.replaceAll(".", "_");
const largestUnit = (seconds) => Object.keys(units).findLast((unit) => seconds > 0 && seconds % units[unit] === 0) ?? "second";
/** The unit in which somebody thinks of a setting's value: of none that in which the most is told. */
const unitOf = ({ most }, seconds) => largestUnit(seconds > 0 ? seconds : Number(most));

const inUnit = (count, unit, language) => new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(count);
const nameOf = (unit) => new Intl.NumberFormat(state.language, { style: "unit", unit, unitDisplay: "long" })
    .formatToParts(5).find(({ type }) => type === "unit").value;

/** A value of a setting, as a person reads it. */
function spokenOf(one, value) {
    if (value === "") return state.words("value_none");
    if (spoken.has(value)) return state.words(`choice_${value}`);
    return one.unit === "seconds" ? lengthOf(Number(value), unitOf(one, Number(value))) : value;
}

/** A length of time in the largest unit of which it is a whole number. */
export function lengthOf(seconds, name = largestUnit(seconds)) {
    return inUnit(seconds / units[name], name, state.language);
}

/**
 * The field of a setting: `text` gives the value as a file has it, `differs` whether it is another one, `show` sets it, and `tell` says what is
 * wrong; null: nothing.
 */
export function fieldOf(one) {
    const { words } = state;
    const { key, choices, unit, most, usual } = one;
    const fault = element("span", { class: "fault", id: `fault_${key}`, role: "alert" });
    const described = { id: key, "aria-describedby": `fault_${key} about_${key}` };
    const control = choices
        ? element("select", described)
        : element("input", { ...described, autocomplete: "off", autocapitalize: "off", spellcheck: "false", inputmode: most === null ? null : "decimal" });
    const allowed = unit === "seconds" ? Object.keys(units).filter((name) => units[name] <= Number(most)) : [];
    const chosen = allowed.length > 1 ? element("select", { "aria-label": words("unit"), class: "unit" },
        allowed.map((name) => element("option", { value: name }, nameOf(name)))) : null;
    const label = words(`set_${wordOf(key)}`) + (allowed.length === 1 ? ` (${nameOf(allowed[0])})` : "");
    const factor = () => (chosen ? units[chosen.value] : 1);
    const show = (now) => {
        const value = now ?? usual;
        if (choices) {
            const all = choices.includes(value) ? choices : [value, ...choices];
            control.replaceChildren(...all.map((choice) => element("option", { value: choice, selected: choice === value }, spokenOf(one, choice))));
        } else if (chosen) {
            chosen.value = unitOf(one, Number(value));
            control.value = Number.isNaN(Number(value)) ? value : Number(value) / factor();
        } else {
            control.value = value;
        }
    };
    const text = () => {
        const entered = control.value.trim();
        if (most === null || choices) return entered;
        const number = Number(entered.replace(",", "."));
        return entered === "" || Number.isNaN(number) ? entered : String(number * factor());
    };
    const differs = (now) => {
        const [value, there] = [text(), now ?? usual];
        return value !== there && (most === null || value === "" || Number(value) !== Number(there));
    };
    const tell = (problem) => {
        fault.replaceChildren(problem ? faultOf(one, text(), problem) : "");
        if (problem) control.setAttribute("aria-invalid", "true");
        else control.removeAttribute("aria-invalid");
    };
    show(one.value);
    const node = element("div", { class: "field" }, element("label", { for: key }, label),
        chosen ? element("div", { class: "amount" }, control, chosen) : control, fault,
        element("span", { class: "soft", id: `about_${key}` }, words(`about_${wordOf(key)}`), " ", words("usual", { value: spokenOf(one, usual) })));
    return { key, node, text, differs, show, tell };
}

/** What is wrong with a value, in the reader's language where its form is known. */
function faultOf(one, text, problem) {
    const { words } = state;
    if (forms.has(one.key)) return words(`form_${wordOf(one.key)}`);
    if (one.least === null) return element("span", { lang: marked(problem).lang }, marked(problem).text);
    if (text === "" || Number.isNaN(Number(text))) return words("fault_number");
    return words("fault_range", { least: spokenOf(one, one.least), most: spokenOf(one, one.most) });
}
