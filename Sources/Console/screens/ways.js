/* The ways to phones, each with a switch. */

import { call } from "../calls.js";
import { lastRestart } from "../changes.js";
import { button, element, field, form } from "../dom.js";
import { marked, said } from "../said.js";
import { state } from "../state.js";
import { outcomeOf, propose, switchOf } from "../switches.js";
import { onlyMine } from "./own.js";

/** Ways that need an address, with an example of one. */
const examples = { phone_page: "https://phone.example.org/phone/", ntfy: "https://ntfy.sh" };

/** Ways that need a credential: the names that its file may have, and how it begins. */
const credentials = {
    apple: { accept: ".p8,.p12,.pfx", example: "-----BEGIN PRIVATE KEY-----" },
    google: { accept: ".json,application/json", example: '{"type": "service_account", …}' },
};
const longestCredential = 16384;

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
    const turn = (isOn, address, result = plan, credential = null) => propose(result, {
        name: way.way, show, action: words(isOn ? "way_turn_on" : "way_turn_off"),
        ask: () => (credential ? call("POST", "ways/key", { way: way.way, ...credential })
            : call("POST", "ways/check", { way: way.way, on: isOn, ...(address ? { address } : {}) })),
        sentences: ({ reach, places, service, reason }) => (isOn
            ? [words(`way_${way.way}_on`), service ? words(`${way.way in credentials ? "credential" : "service"}_${service}`, { reason: said(reason ?? "") }) : null,
                words(`reach_${reach}`, { places: places.join(", ") })].filter(Boolean)
            : [words(`way_${way.way}_off`)]),
    });
    const flip = (isOn) => {
        if (isOn && way.way in examples) return askForAddress(plan, way, turn);
        return isOn && way.way in credentials ? askForCredential(plan, way.way, turn) : turn(isOn);
    };
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

/** How the way is, in a line. */
function lineOf({ state: now, reason, places, address }) {
    const where = [...places, address].filter(Boolean).join(", ");
    return [element("span", {}, state.words(`way_is_${now}`), now === "on" && where ? ` (${where})` : null,
        reason ? element("span", { lang: marked(reason).lang }, ` ${marked(reason).text}`) : null)];
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

/** The file is pasted, dropped or chosen. It goes to the node, which asks the service, and is kept nowhere else. */
function askForCredential(place, way, turn) {
    const { words } = state;
    const attributes = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
    const text = element("textarea", { ...attributes, id: `file-${way}`, rows: 4, placeholder: credentials[way].example });
    const [keyID, teamID] = ["key", "team"].map((name) => element("input", { ...attributes, type: "text", id: `${name}-${way}`, maxlength: 40 }));
    const password = element("input", { type: "password", id: `password-${way}`, autocomplete: "off", maxlength: 256 });
    const [ids, secret] = [
        element("div", {}, field(words("credential_key_id"), keyID), field(words("credential_team_id"), teamID)),
        element("div", {}, field(words("credential_password"), password)),
    ];
    /** A certificate needs no ids, and may have a password. */
    const drawFields = () => {
        const isCertificate = isBase64(text.value);
        ids.hidden = isCertificate;
        secret.hidden = !isCertificate;
    };
    const result = element("div", {});
    const take = async (file) => {
        if (!file) return;
        result.replaceChildren();
        const content = file.size > longestCredential ? "" : await contentOf(file);
        if (file.size > longestCredential || content.length > longestCredential) {
            result.replaceChildren(element("p", { class: "fault", role: "alert" }, words("credential_long")));
            return;
        }
        text.value = content;
        keyID.value = /^AuthKey_([A-Z0-9]{10})\.p8$/.exec(file.name)?.[1] ?? keyID.value;
        drawFields();
    };
    text.addEventListener("input", drawFields);
    drawFields();
    const chooser = element("input", { type: "file", id: `choose-${way}`, accept: credentials[way].accept, onchange: () => take(chooser.files[0]) });
    text.addEventListener("dragover", (event) => event.preventDefault());
    text.addEventListener("drop", (event) => {
        event.preventDefault();
        take(event.dataTransfer.files[0]);
    });
    place.replaceChildren(
        form([
            field(words(`way_${way}_file`), text), field(words("credential_choose"), chooser),
            ...(way === "apple" ? [ids, secret] : []),
        ], words("way_look"), async () => {
            if (!text.value.trim()) return words("credential_none");
            const isCertificate = isBase64(text.value);
            const more = way !== "apple" ? {}
                : isCertificate ? { password: password.value } : { key_id: keyID.value.trim(), team_id: teamID.value.trim() };
            await turn(true, null, result, { file: text.value, ...more });
        }),
        result);
    text.focus();
}

/** Whether a text is that of a file of bytes, as a certificate is one. */
const isBase64 = (text) => /^\s*MI[\w+/=\s]{100,}$/.test(text);

/** A file's text; of one that is not text its bytes, as Base64 in lines. */
async function contentOf(file) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (bytes[0] !== 0x30) return new TextDecoder().decode(bytes);
    return btoa(String.fromCharCode(...bytes)).replace(/.{64}/g, "$&\n");
}
