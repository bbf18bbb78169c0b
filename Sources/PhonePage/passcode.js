/* The pairing key behind a passcode: PBKDF2 (SHA-256) makes a key of the passcode, AES-GCM seals the pairing key. */

import { bytesOf } from "./bytes.js";

export const minimumLength = 6;
const iterations = 600_000;

async function sealingKey(passcode, salt, rounds) {
    const typed = bytesOf(passcode.normalize("NFC")); // Keyboards differ in how they write an umlaut.
    const material = await crypto.subtle.importKey("raw", typed, "PBKDF2", false, ["deriveKey"]);
    const parameters = { name: "PBKDF2", hash: "SHA-256", salt, iterations: rounds };
    return crypto.subtle.deriveKey(parameters, material, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}

export async function wrap(key, passcode) {
    const salt = crypto.getRandomValues(new Uint8Array(16));
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const sealing = await sealingKey(passcode, salt, iterations);
    const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, sealing, bytesOf(key)));
    return { salt, iterations, iv, sealed };
}

/** The pairing key, or `null` when the passcode is another one. */
export async function unwrap({ salt, iterations: rounds, iv, sealed }, passcode) {
    const sealing = await sealingKey(passcode, salt, rounds);
    try {
        return new TextDecoder().decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, sealing, sealed));
    } catch {
        return null;
    }
}
