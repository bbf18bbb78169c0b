/* What goes from the page to Bisq, to the node and to the next phone, as texts. */

import { bytesOf, fromBase64URL, toBase64, toBase64URL } from "./bytes.js";

/** 24 random bytes as 32 characters of Base64, the length that Bisq asks for. */
export const newKey = () => toBase64(crypto.getRandomValues(new Uint8Array(24)));

/** A pairing key as phones make it: 32 printable characters. `|` would end its section of the pairing token. */
export const isKey = (text) => /^[\x21-\x7b\x7d\x7e]{32}$/.test(text);

/** An uncompressed point of P-256 in base64url: the node's VAPID public key, or a browser's `p256dh`. */
export async function isPoint(text) {
    try {
        await crypto.subtle.importKey("raw", pointOf(text), { name: "ECDH", namedCurve: "P-256" }, false, []);
        return true;
    } catch {
        return false;
    }
}

function pointOf(text) {
    const point = fromBase64URL(text);
    if (point.length !== 65 || point[0] !== 4) throw new TypeError("not an uncompressed point of P-256");
    return point;
}

/**
 * The subscription as a device token: `wp1:<endpoint>::<keys>`.
 *
 * The endpoint goes without `https://`; each byte but `A-Z a-z 0-9 . _ -` becomes `:` and two hex digits. The keys are the
 * compressed point (33 bytes) and `auth` (16) in 66 characters. These are the characters of an FCM token, so Bisq and
 * relays take it as one.
 */
export function tokenOf({ endpoint, p256dh, auth }) {
    if (!endpoint.startsWith("https://")) throw new TypeError("an endpoint without https");
    const point = pointOf(p256dh);
    const secret = fromBase64URL(auth);
    if (secret.length !== 16) throw new TypeError("auth is not 16 bytes");
    const escaped = Array.from(bytesOf(endpoint.slice("https://".length)), (byte) => {
        const character = String.fromCharCode(byte);
        return /[A-Za-z0-9._-]/.test(character)
            ? character
            : `:${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    }).join("");
    const keys = Uint8Array.of(2 + (point[64] & 1), ...point.slice(1, 33), ...secret);
    return `wp1:${escaped}::${toBase64URL(keys)}`;
}

/** What is pasted into Bisq, or read by its camera: magic, description, key, token. */
export const pairingToken = (subscription, key) => `android|Web|${key}|${tokenOf(subscription)}`;

/** A link to this page for the next phone. What is behind the `#` never reaches the page's host. */
export const linkForPhone = (page, vapidKey, key) =>
    `${page}#k=${vapidKey}${key ? `&p=${encodeURIComponent(key)}` : ""}`;

/**
 * The node's key and another phone's key in what was pasted, scanned or opened: a link to this page, its fragment alone,
 * or the bare node's key. Both are empty where nothing of the kind is in it.
 */
export async function keysIn(text) {
    const trimmed = text.trim();
    if (trimmed.length > 2000) return { vapidKey: "", key: "" };
    const fragment = trimmed.includes("#") ? trimmed.slice(trimmed.indexOf("#") + 1) : trimmed;
    let vapidKey = "";
    let key = "";
    for (const part of fragment.split("&")) {
        if (part.startsWith("k=")) vapidKey = part.slice(2);
        if (part.startsWith("p=")) key = unescaped(part.slice(2));
    }
    if (!vapidKey && !key) vapidKey = trimmed;
    return {
        vapidKey: (await isPoint(vapidKey)) ? vapidKey : "",
        key: isKey(key) ? key : "",
    };
}

function unescaped(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return "";
    }
}
