/* Who may connect: everybody, or only those who are invited. */

import { call, told, unfit } from "../calls.js";
import { ask, button, copy, element, field, form, group, say } from "../dom.js";
import { state } from "../state.js";

/** What a new peer's tor needs; gone with the page. */
let invited = null;

export async function peopleScreen({ show }) {
    const { words } = state;
    const peers = await call("GET", "peers");
    const name = element("input", { id: "peer", maxlength: 64, autocomplete: "off", autocapitalize: "off" });
    return {
        title: words("tab_people"),
        nodes: [
            peers.private ? null : element("p", { class: "card banner" }, words("is_public")),
            invited ? forPeer(invited, show) : null,
            peers.clients.length > 0 ? group("", peers.clients.map((peer) => element("div", { class: "phone" },
                element("div", { class: "texts" }, element("strong", {}, peer)),
                element("div", { class: "buttons" }, button(words("revoke"), async () => {
                    if (!(await ask(words("revoke_confirm", { name: peer }), words("revoke")))) return;
                    const fault = await told(() => call("DELETE", `peers/${encodeURIComponent(peer)}`));
                    await show();
                    if (fault) say(fault);
                }, { class: "small danger" }))))) : null,
            element("section", { class: "card" }, element("h2", {}, words("invite")),
                element("p", {}, words("invite_text")),
                form([field(words("name"), name)], words("invite_action"), () => unfit(name.value.trim()) ?? told(async () => {
                    if (!peers.private && !(await ask(words("invite_confirm"), words("invite_action")))) return;
                    invited = await call("POST", "peers", { name: name.value.trim() });
                    await show();
                }))),
            peers.private ? button(words("let_everybody_in"), async () => {
                if (!(await ask(words("let_everybody_in_confirm"), words("let_everybody_in")))) return;
                const fault = await told(() => call("DELETE", "peers"));
                await show();
                if (fault) say(fault);
            }, { class: "secondary danger" }) : null,
        ],
    };
}

const forPeer = (peer, show) => element("section", { class: "card", id: "invited" },
    element("h2", {}, state.words("invited", { name: peer.name })),
    element("p", {}, state.words("invited_text")),
    element("code", { tabindex: 0 }, peer.file),
    button(state.words("copy"), () => copy(peer.file), { class: "primary", icon: "copy" }),
    button(state.words("done"), () => { invited = null; show(); }, { class: "secondary" }));
