/* What a push says. Nothing here knows of storage or of the page.

   Bisq 1: `BisqMessageAndroid|<iv>|<base64>`. AES-256-CBC; the key's 32 characters and the IV's 16 are taken as ASCII;
   the JSON is filled with blanks to whole blocks (bisq, MobileMessageEncryption).
   Bisq 2: Base64 of nonce (12 bytes), ciphertext and tag (16). AES-256-GCM with the key's same 32 bytes (bisq2,
   MobileNotificationRelayClient).
   The node itself: `OnionbellNotice|<JSON>`. It is not sealed with the key, which no node has. */

import { bytesOf, fromBase64 } from "./bytes.js";

/** A push service takes no more than 4,096 bytes. */
const maximumLength = 8192;
const maximumTitle = 200;
const maximumMessage = 4000;

/** Why a push can't be opened: form, magic, iv, length, base64, tag, utf-8, json. */
export class Unopened extends Error {
    constructor(why) {
        super(why);
        this.why = why;
    }
}

const bisq1Kinds = ["SETUP_CONFIRMATION", "OFFER", "TRADE", "DISPUTE", "PRICE", "MARKET", "ERASE"];
const bisq2Kinds = { trade_update: "TRADE", chat_message: "CHAT", offer_update: "OFFER", general: "GENERAL" };

/**
 * Opens the text of a push with the pairing key of 32 characters.
 *
 * The result has `kind` (Bisq 1's types, CHAT, GENERAL or NODE), `title`, `message`, `tradeId` and `sentDate`
 * (milliseconds since 1970, 0 if unknown). Titles and messages come from other traders: they are text, never markup.
 */
export async function open(text, key) {
    if (text.length > maximumLength) throw new Unopened("length");
    if (text.startsWith("OnionbellNotice|")) return noticeOfNode(parsed(text.slice("OnionbellNotice|".length)));
    if (text.includes("|")) return messageOfBisq1(parsed(await openedBisq1(text, key)));
    return messageOfBisq2(parsed(await openedBisq2(text, key)));
}

async function openedBisq1(text, key) {
    const parts = text.split("|");
    if (parts.length !== 3) throw new Unopened("form");
    const [magic, iv, sealed] = parts;
    if (magic !== "BisqMessageAndroid") throw new Unopened("magic");
    if (!/^[\x21-\x7e]{16}$/.test(iv)) throw new Unopened("iv");
    const ciphertext = decoded(sealed, "length");
    if (ciphertext.length === 0 || ciphertext.length % 16 !== 0) throw new Unopened("length");

    // WebCrypto's AES-CBC always takes PKCS#7 padding off, and Bisq puts none on. So one block is appended that opens
    // to sixteen bytes of value 16: the empty text, sealed with the last block as its IV.
    const aes = await crypto.subtle.importKey("raw", bytesOf(key), "AES-CBC", false, ["encrypt", "decrypt"]);
    const last = ciphertext.slice(-16);
    const padding = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv: last }, aes, new Uint8Array()));
    const whole = new Uint8Array(ciphertext.length + padding.length);
    whole.set(ciphertext);
    whole.set(padding, ciphertext.length);
    return crypto.subtle.decrypt({ name: "AES-CBC", iv: bytesOf(iv) }, aes, whole);
}

async function openedBisq2(text, key) {
    const bytes = decoded(text, "form");
    if (bytes.length < 12 + 16) throw new Unopened("length");
    const aes = await crypto.subtle.importKey("raw", bytesOf(key), "AES-GCM", false, ["decrypt"]);
    try {
        return await crypto.subtle.decrypt({ name: "AES-GCM", iv: bytes.slice(0, 12) }, aes, bytes.slice(12));
    } catch {
        throw new Unopened("tag");
    }
}

function decoded(text, why) {
    try {
        return fromBase64(text);
    } catch {
        throw new Unopened(why);
    }
}

/** The JSON object in a text or in bytes. `JSON.parse` takes the blanks behind it. */
function parsed(plain) {
    let text = plain;
    if (typeof plain !== "string") {
        try {
            text = new TextDecoder("utf-8", { fatal: true }).decode(plain);
        } catch {
            throw new Unopened("utf-8");
        }
    }
    let value;
    try {
        value = JSON.parse(text);
    } catch {
        throw new Unopened("json");
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Unopened("json");
    return value;
}

const messageOfBisq1 = (json) => ({
    kind: bisq1Kinds.includes(json.type) ? json.type : "GENERAL",
    title: bounded(json.title, maximumTitle),
    message: bounded(json.message, maximumMessage),
    tradeId: bounded(json.txId, maximumTitle),
    sentDate: date(json.sentDate),
});

const messageOfBisq2 = (json) => ({
    kind: Object.hasOwn(bisq2Kinds, json.category) ? bisq2Kinds[json.category] : "GENERAL",
    title: bounded(json.title, maximumTitle),
    message: bounded(json.message, maximumMessage),
    tradeId: bounded(json.tradeId, maximumTitle),
    sentDate: 0,
});

/** Its kind is always NODE: it can't set up, erase, or look like a message of Bisq. */
const noticeOfNode = (json) => ({
    kind: "NODE",
    title: bounded(json.title, maximumTitle),
    message: bounded(json.message, maximumMessage),
    tradeId: "",
    sentDate: date(json.sentDate),
});

/** Control characters go, those that turn the direction of writing too: they could make a title look like another. */
function bounded(value, maximum) {
    if (typeof value !== "string") return "";
    const text = value.replace(/[\u0000-\u0009\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, "");
    return text.length <= maximum ? text : `${text.slice(0, maximum - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

const date = (value) => (Number.isSafeInteger(value) && value > 0 && value < 8.64e15 ? value : 0);
