/* A copy of all that makes the node this node, and moving in from one. */

import { call, callForFile, differ, Refused, told } from "../calls.js";
import { ask, button, element, fact, field, form, say } from "../dom.js";
import { differenceOf, lastRestart, restart } from "../changes.js";
import { marked, said } from "../said.js";
import { state } from "../state.js";

export async function keepScreen({ show }) {
    const { words } = state;
    const { made, undone } = await call("GET", "backup");
    return {
        title: words("keep_title"),
        nodes: [lastRestart(), undone ? cameToNothing(undone) : null, copying(made, show), trying(), moving(show)].filter(Boolean),
    };
}

const cameToNothing = ({ at, reason }) => element("section", { class: "card faults", id: "undone" },
    element("p", {}, state.words("move_undone", { time: timeOf(at) })), element("p", { class: "fault", lang: marked(reason).lang }, marked(reason).text));

function copying(made, show) {
    const { words } = state;
    const input = element("input", { type: "password", autocomplete: "new-password", id: "copy-passphrase", "aria-describedby": "fault" });
    const again = element("input", { type: "password", autocomplete: "new-password", id: "copy-passphrase-again", "aria-describedby": "fault" });
    return element("section", { class: "card", id: "copy" }, element("h2", {}, words("keep_copy")),
        element("p", {}, words("keep_copy_text")),
        element("p", { class: "soft" }, words("keep_not_in")),
        element("p", { class: isOld(made) ? "fault" : "soft", id: "made" },
            made === null ? words("keep_never") : words("keep_made", { time: timeOf(made) }), isOld(made) ? ` ${words("keep_old")}` : null),
        form([field(words("keep_passphrase_new"), input), field(words("passphrase_again"), again)], words("keep_download"), () => differ(input, again) ?? told(async () => {
            const file = await callForFile("POST", "backup", { passphrase: input.value });
            save(file, `onionbell-${new Date().toISOString().slice(0, 10)}.backup`);
            await show();
            say(words("keep_downloaded"));
        })),
        element("p", { class: "soft" }, words("keep_passphrase_note")));
}

/** Seconds: a copy that is older, and none, is worth a word. */
const oldAge = 30 * 86_400;
const isOld = (made) => made === null || Date.now() / 1000 - made > oldAge;

const timeOf = (seconds) =>
    new Intl.DateTimeFormat(state.language, { dateStyle: "long", timeStyle: "short" }).format(seconds * 1000);

function save(file, name) {
    const link = element("a", { href: URL.createObjectURL(file), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// MARK: Opening one

/** A file and its passphrase: the node opens it and says what moving in would do, and nothing is changed. `then` makes elements of that. */
function opening(name, action, then) {
    const { words } = state;
    const file = element("input", { type: "file", id: name === "move" ? "file" : `${name}-file`, required: true });
    const input = element("input", { type: "password", autocomplete: "off", id: `${name}-passphrase`, "aria-describedby": "fault" });
    const result = element("div", { id: name === "move" ? "plan" : `${name}-plan`, role: "status" });
    return [
        form([field(words("move_file"), file), field(words("keep_passphrase"), input)], action, async () => {
            if (!file.files[0]) return words("move_no_file");
            const wanted = { passphrase: input.value, file: await base64Of(file.files[0]) };
            return told(async () => {
                const plan = await call("POST", "restore", { ...wanted, look: true });
                result.replaceChildren(...then(plan, wanted, result).filter(Boolean));
            });
        }),
        result,
    ];
}

/** Opens a copy and takes nothing: whether it is good is found before it is needed. */
function trying() {
    const { words } = state;
    return element("section", { class: "card", id: "try" }, element("h2", {}, words("try_title")), element("p", {}, words("try_text")),
        opening("try", words("try_action"), (plan) => [
            element("p", { class: "state is-good" }, words("try_good")), held(plan),
            listOf("move_faults", plan.faults.map(faultText)),
            element("p", { class: "soft" }, words(plan.settings === "same" ? "move_settings_same" : "try_settings_differ")),
        ]));
}

const faultText = ({ key, problem }) => (key === "" ? said(problem) : `${key}: ${said(problem)}`);

/** What a copy holds, in figures. */
const held = (plan) => element("dl", { class: "plan" },
    fact(state.words("now_address"), plan.address), fact(state.words("move_made"), timeOf(plan.made)),
    fact(state.words("tab_phones"), plan.phones), fact(state.words("mailboxes"), plan.mailboxes));

// MARK: Moving in

const moving = (show) => element("section", { class: "card", id: "move" }, element("h2", {}, state.words("move_title")),
    element("p", {}, state.words("move_text")),
    opening("move", state.words("move_look"), (plan, wanted, result) => planned(plan, wanted, result, show)));

const base64Of = (file) => new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
});

/** Names below a sentence; nothing where there is none. */
const listOf = (word, names) => (names.length === 0 ? null : element("div", {}, element("p", {}, state.words(word)),
    element("ul", { class: "left" }, names.map((name) => element("li", {}, element("code", {}, name))))));

/** What would be done, before it is done. */
function planned(plan, wanted, result, show) {
    const { words } = state;
    const fault = element("p", { class: "fault", role: "alert" });
    const settings = element("input", { type: "checkbox", id: "settings", checked: plan.settings === "taken" });
    const move = async (hasStopped) => {
        fault.textContent = "";
        try {
            const keeps = plan.settings === "taken" && !settings.checked;
            const done = await call("POST", "restore", { ...wanted, old_node_stopped: hasStopped, keep_settings: keeps });
            result.replaceChildren(element("p", { class: "state is-good" }, words("move_ready")));
            await restart(result, show);
        } catch (error) {
            if (!(error instanceof Refused)) throw error;
            fault.replaceChildren(error.message, ["old_node_published", "old_node_unknown"].includes(error.code)
                ? button(words("move_stopped"), async () => {
                    if (await ask(words("move_stopped_confirm"), words("move_stopped"))) await move(true);
                }, { class: "small danger" }) : "");
        }
    };
    return [
        held(plan),
        listOf("move_files", plan.files.filter(({ fate }) => fate !== "left").map(({ name, fate }) => `${name} (${fate})`)),
        listOf("move_faults", plan.faults.map(faultText)),
        listOf("move_left", plan.left),
        listOf("move_conflicts", plan.conflicts.map(conflictOf)),
        plan.database ? element("p", { class: "soft" }, words("move_database")) : null,
        plan.settings === "taken"
            ? element("label", { class: "check" }, settings, words("move_settings"))
            : element("p", { class: "soft" }, words(`move_settings_${plan.settings}`)),
        plan.reason ? element("p", { class: "soft", lang: marked(plan.reason).lang }, marked(plan.reason).text) : null,
        plan.difference.length === 0 ? null : differenceOf(plan.difference),
        fault,
        button(words("move_action"), async () => {
            if (await ask(words("move_confirm", { address: plan.address }), words("move_action"))) await move(false);
        }, { class: "primary" }),
    ];
}

const conflictOf = ({ kind, name, mailbox }) => `${kind} ${mailbox === null ? name : `${mailbox}/${name}`}`;
