/* The settings: the dozen that matter as fields, all of them as text; checked, and shown as a difference, before they are taken. */

import { call, Refused, told } from "../calls.js";
import { differenceOf, lastRestart, restart } from "../changes.js";
import { button, element, field, form, icon } from "../dom.js";
import { fieldOf } from "../fields.js";
import { said } from "../said.js";
import { state } from "../state.js";

/** With a sentence of their own; more are told by their number. */
const mostFaults = 100;

export async function settingsScreen({ show }) {
    const { words } = state;
    const settings = await call("GET", "settings");
    const result = element("div", { id: "result", role: "status" });
    const fields = settings.fields.map(fieldOf);
    /** What the file says now, also after a change that this page has made. */
    const present = (key) => settings.fields.find((one) => one.key === key);
    const text = element("textarea", {
        id: "text", rows: 18, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off",
    });
    text.value = settings.text;
    settings.onchange = () => {
        text.value = settings.text;
        for (const { key, show } of fields) show(present(key).value);
    };
    const look = (wanted) => told(async () => {
        const checked = await call("POST", "settings/check", wanted);
        for (const { key, tell, node } of fields) {
            const fault = checked.faults.find((one) => one.key === key)?.problem ?? null;
            tell(fault);
            if (fault && node.closest("details")) node.closest("details").open = true;
        }
        result.replaceChildren(...changed(checked, settings, result, show));
        result.scrollIntoView({ block: "nearest" });
    });
    const due = settings.restart_due.length === 0 ? null : element("section", { class: "card", id: "restart" });
    if (due) restart(due, show);
    return {
        title: words("settings_title"),
        nodes: [
            lastRestart(),
            element("p", { class: "soft" }, words("settings_file"), " ", element("code", {}, settings.file)),
            settings.writable ? null : element("p", { class: "card banner" }, words("settings_closed")),
            due,
            element("section", { class: "card" },
                form([
                    ...fields.filter(({ key }) => !present(key).folded).map(({ node }) => node),
                    element("details", {}, element("summary", {}, words("settings_folded"), icon("forward")),
                        element("div", { class: "inner" }, fields.filter(({ key }) => present(key).folded).map(({ node }) => node))),
                ], words("settings_look"), () => look({
                    changes: Object.fromEntries(fields.filter(({ key, differs }) => differs(present(key).value))
                        .map(({ key, text }) => [key, text()])),
                }))),
            element("details", { class: "card" }, element("summary", {}, words("settings_text"), icon("forward")),
                element("div", { class: "inner" }, form([field(words("settings_all"), text)], words("settings_look"), () => look({ text: text.value })))),
            result,
        ].filter(Boolean),
    };
}

/** Faults at their lines; or the difference, and what takes it over. */
function changed(checked, settings, result, show) {
    const { words } = state;
    if (checked.fault_count > 0) {
        const rest = checked.fault_count - Math.min(checked.faults.length, mostFaults);
        return [element("section", { class: "card faults", id: "faults" },
            element("h2", {}, words("settings_faults", { count: checked.fault_count })),
            element("ul", {}, checked.faults.slice(0, mostFaults).map(({ key, line, problem }) => element("li", {},
                line === null ? null : button(words("settings_line", { line }), () => goTo(line), { class: "small" }),
                key ? element("strong", {}, `${key}: `) : null, said(problem)))),
            rest > 0 ? element("p", {}, words("settings_more", { count: rest })) : null)];
    }
    if (checked.difference.length === 0) return [element("p", { class: "state" }, words("settings_same"))];
    const fault = element("p", { class: "fault", role: "alert" });
    const take = button(words("settings_take"), async () => {
        take.disabled = true;
        fault.textContent = "";
        try {
            const done = await call("PUT", "settings", { version: settings.version, text: checked.text });
            // The next change of this page is one of what it has just written.
            Object.assign(settings, await call("GET", "settings"));
            settings.onchange?.();
            result.replaceChildren(element("p", { class: "state is-good" }, words("settings_taken")));
            if (done.needs_restart.length === 0) return show();
            await restart(result, show);
            dispatchEvent(new Event("settings"));
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            fault.replaceChildren(error.message,
                error.code === "changed_meanwhile" ? button(words("settings_again"), show, { class: "small" }) : "");
            take.disabled = false;
        }
    }, { class: "primary" });
    return [element("section", { class: "card", id: "difference" }, element("h2", {}, words("difference")),
        differenceOf(checked.difference),
        element("p", {}, checked.needs_restart.length === 0
            ? words("settings_live") : words("settings_restart", { keys: checked.needs_restart.join(", ") })),
        checked.console_off ? element("p", { class: "fault" }, words("settings_closes_all"))
            : checked.console_closed.length > 0 ? element("p", { class: "fault" }, words("settings_closes", { places: checked.console_closed.join(", ") })) : null,
        fault, settings.writable ? take : element("p", { class: "soft" }, words("settings_closed")))];
}

/** Selects a line of the text. */
function goTo(line) {
    const text = document.getElementById("text");
    if (!text) return;
    text.closest("details").open = true;
    const lines = text.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    text.focus();
    text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    text.scrollTop = Math.max(0, (line - 4) * text.scrollHeight / Math.max(1, lines.length));
}
