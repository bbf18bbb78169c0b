/* Bytes and their texts. */

const utf8 = new TextEncoder();

export const bytesOf = (text) => utf8.encode(text);

/** Standard Base64 with padding, as Java writes it. Throws on anything else. */
export function fromBase64(text) {
    if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new TypeError("not Base64");
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export const toBase64 = (bytes) => btoa(String.fromCharCode(...bytes));

/** Base64 with the alphabet of URLs and without padding. One text for one value: stray bits are refused. */
export function fromBase64URL(text) {
    if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new TypeError("not base64url");
    const standard = text.replace(/-/g, "+").replace(/_/g, "/");
    const bytes = fromBase64(standard + "=".repeat((4 - (standard.length % 4)) % 4));
    if (toBase64URL(bytes) !== text) throw new TypeError("stray bits");
    return bytes;
}

export const toBase64URL = (bytes) =>
    toBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** SHA-256 of a text, its first 16 bytes in hex: names a push, so that a repetition replaces itself. */
export async function digestOf(text) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytesOf(text)));
    return Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
