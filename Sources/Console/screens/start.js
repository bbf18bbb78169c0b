/* From nothing to the first ring: which Bisq, where it is, which phone; then what was seen of each. */

import { call } from "../calls.js";
import { button, copy, element, icon } from "../dom.js";
import { paragraphs } from "../said.js";
import { state } from "../state.js";

/** Data directories of the programs by the system that they run on. */
const folders = {
    bisq1: ["~/.local/share/Bisq", "~/Library/Application Support/Bisq", "%APPDATA%\\Bisq"],
    haveno: ["~/.local/share/Haveno", "~/Library/Application Support/Haveno", "%APPDATA%\\Haveno"],
    bisq2: ["~/.local/share/Bisq2", "~/Library/Application Support/Bisq2", "%APPDATA%\\Bisq2"],
};
const systems = ["Linux", "macOS", "Windows"];
/** Endpoints by which a Bisq comes. */
const ofBisq = ["peer", "bisq1", "bisq2"];

const chosen = { client: "bisq1", system: 0 };

export async function startScreen({ show }) {
    const { words } = state;
    const [point, book, node] = [await call("GET", "point"), await call("GET", "phones"), await call("GET", "state")];
    let boxes = await call("GET", "mailboxes");
    const seen = element("p", { class: "state", role: "status", id: "seen" });
    drawSeen(seen, node);
    const phones = element("div", {});
    drawPhones(phones, book, boxes);
    const client = point.clients.find(({ client }) => client === chosen.client);
    return {
        title: words("start_title"),
        live: async (kind) => {
            if (kind === "mailboxes") boxes = await call("GET", "mailboxes");
            if (kind === "phones" || kind === "mailboxes") drawPhones(phones, await call("GET", "phones"), boxes);
            if (kind === "state") drawSeen(seen, await call("GET", "state"));
        },
        nodes: [
            element("section", { class: "card" },
                element("h2", {}, words("start_phone")),
                phones,
                element("a", { class: "button secondary", href: "#/phones" }, words("start_phone_action"))),
            element("section", { class: "card" },
                element("h2", {}, words("start_bisq")),
                choice(words("start_which"), point.clients.map(({ client, name }) => [client, client === "bisq2-docker" ? words("client_bisq2_docker") : name]), chosen.client,
                    (value) => { chosen.client = value; show(); }),
                Object.hasOwn(folders, client.client)
                    ? choice(words("start_where"), systems.map((name, index) => [index, name]), chosen.system,
                        (value) => { chosen.system = Number(value); show(); })
                    : null,
                element("p", {}, placeOf(client)),
                element("pre", { id: "line", tabindex: 0 }, client.lines.join("\n")),
                button(words("copy"), () => copy(client.lines.join("\n")), { class: "primary", icon: "copy" }),
                element("p", { class: "soft" }, words("start_restart", { name: client.name })),
                element("details", {}, element("summary", {}, words("start_more"), icon("forward")),
                    element("div", { class: "advice" }, paragraphs(client.advice).map(({ isCode, text }) =>
                        element(isCode ? "pre" : "p", isCode ? { tabindex: 0 } : {}, text))))),
            element("section", { class: "card" }, element("h2", {}, words("start_seen")), seen),
        ],
    };
}

function placeOf({ client, file }) {
    const { words } = state;
    if (!Object.hasOwn(folders, client)) return words("start_container");
    const folder = folders[client][chosen.system];
    return words("start_file", { file: `${folder}${chosen.system === 2 ? "\\" : "/"}${file}` });
}

const done = (text) => element("p", { class: "state is-good" }, icon("SETUP_CONFIRMATION"), text);

/** A phone of a mailbox is in no book. */
function drawPhones(place, { phones }, { mailboxes }) {
    const { words } = state;
    const there = [["start_phones", phones.length], ["start_mailboxes", mailboxes.length]].filter(([, count]) => count > 0);
    place.replaceChildren(...there.length > 0
        ? there.map(([word, count]) => done(words(word, { count })))
        : [element("p", {}, words("start_phone_text"))]);
}

/** Whether a Bisq has ever come since the node's start: whatever became of it, the way is found. */
function drawSeen(place, { endpoints }) {
    const { words } = state;
    const hasCome = endpoints.some((one) => ofBisq.includes(one.name)
        && one.stored + one.unstored + one.duplicates + one.busy + sum(one.refused) > 0);
    place.classList.toggle("is-good", hasCome);
    place.replaceChildren(
        hasCome ? icon("SETUP_CONFIRMATION") : element("span", { class: "pulse", "aria-hidden": "true" }),
        words(hasCome ? "start_has_come" : "start_waiting"));
}

const sum = (counts) => Object.values(counts).reduce((all, count) => all + count, 0);

export const choice = (label, options, value, onchange) => element("label", { class: "choice" }, element("span", {}, label),
    element("select", { onchange: (event) => onchange(event.target.value) },
        options.map(([key, name]) => element("option", { value: key, selected: key === value }, name))));
