/* What the page asks of the node. */

import { doubt, hasAnswered } from "./presence.js";
import { said } from "./said.js";
import { state } from "./state.js";

/** Codes that have words here; the others are told by what the node says. */
const known = new Set([
    "no_answer", "not_accepted", "too_many_attempts", "passphrase_length", "token_sections", "token_magic", "token_key",
    "token_device", "token_cut", "bad_name", "bad_phone_name", "phone_known", "name_taken", "name_full", "foreign_token", "no_address", "no_mailboxes",
    "mailbox_known", "busy", "android_only", "forms_differ", "backup_passphrase", "no_backup", "newer_backup",
    "wrong_passphrase", "another_node", "old_node_published", "old_node_unknown", "unsupervised", "edit_text", "settings_closed",
    "changed_meanwhile", "no_way_out", "unfit_credential", "unfit_ids", "certificate_password", "certificate_password_wrong",
    "service_refuses", "credential_in_use", "start_refused", "book_full", "too_many", "unknown_phone", "unknown_name", "unknown_mailbox",
    "unfit_backup", "store_failed", "unreadable", "not_written",
]);

/** Why the node has not done what it was asked for; its message is for people. */
export class Refused extends Error {
    constructor(status, code, message, after = 0) {
        super(known.has(code) ? state.words(`fault_${code}`, { reason: said(message ?? "") }) : message ? said(message) : state.words("fault_other", { status }));
        this.status = status;
        this.code = code;
        /** The seconds to wait before it may be asked again; 0: not told. */
        this.after = after;
    }
}

/** Gives the answer's value, or null where it has none. Throws what was refused, also where an answer came in part only. */
export const call = (method, path, body) => (path === "settings" ? askedOfSettings(method, body) : asked(method, path, body, valueOf));

/** The page knows the settings that it has read or written: another version is somebody else's. */
async function askedOfSettings(method, body) {
    state.isWriting = method === "PUT";
    try {
        const value = await asked(method, "settings", body, valueOf);
        state.settingsVersion = value.version;
        return value;
    } finally {
        state.isWriting = false;
    }
}

/** Gives a file. */
export const callForFile = (method, path, body) => asked(method, path, body, (answer) => answer.blob());

async function valueOf(answer) {
    const text = await answer.text();
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

async function asked(method, path, body, read) {
    const headers = method === "GET" ? {} : { "Onionbell-Console": "1" };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    let answer;
    let value;
    try {
        answer = await fetch(`api/v1/${path}`, {
            method, headers, body: body === undefined ? undefined : JSON.stringify(body),
            credentials: "same-origin", cache: "no-store", redirect: "error",
        });
        value = await (answer.ok ? read : valueOf)(answer);
    } catch {
        if (!state.isRestarting) doubt();
        throw new Refused(0, "no_answer");
    }
    hasAnswered();
    if (answer.status === 401) state.hasEntered = false;
    if (!answer.ok) {
        throw new Refused(answer.status, value?.code, value?.message, Number(answer.headers.get("Retry-After")) || 0);
    }
    return value;
}

/** For forms: nobody sees what is typed, so a new passphrase is typed twice. */
export const differ = (one, other) => (one.value === other.value ? undefined : state.words("passphrases_differ"));

/** For forms: a peer and a widget have names that a file may have. Told before anything is asked. */
export const unfit = (name) => (/^[\w-]{1,64}$/.test(name) ? undefined : state.words("fault_bad_peer_name"));

/** For forms: nothing, or what is wrong. */
export async function told(action) {
    try {
        await action();
    } catch (error) {
        if (!(error instanceof Refused)) throw error;
        return error.message;
    }
}
