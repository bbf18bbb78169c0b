/* The subscription at the browser's push service. */

import { fromBase64URL } from "./bytes.js";
import { longestSubscription } from "./limits.js";

/** Throws `NotAllowedError` (blocked), `AbortError` (no push service), `TimeoutError`, or what the browser says else. */
export async function subscribe(registration, vapidKey) {
    const options = { userVisibleOnly: true, applicationServerKey: fromBase64URL(vapidKey) };
    const subscribing = async () => {
        try {
            return await registration.pushManager.subscribe(options);
        } catch (error) {
            if (error.name !== "InvalidStateError") throw error;
            // Another node's key stands there. One page holds one subscription.
            await (await registration.pushManager.getSubscription())?.unsubscribe();
            return registration.pushManager.subscribe(options);
        }
    };
    return partsOf(await within(longestSubscription, subscribing()));
}

/** What the browser holds now, or `null`. */
export async function current(registration) {
    const subscription = await within(longestSubscription, registration.pushManager.getSubscription());
    return subscription ? partsOf(subscription) : null;
}

export async function unsubscribe(registration) {
    await (await registration.pushManager.getSubscription())?.unsubscribe();
}

export const isSame = (one, other) =>
    Boolean(one && other) && one.endpoint === other.endpoint && one.p256dh === other.p256dh && one.auth === other.auth;

function partsOf(subscription) {
    const { endpoint, keys } = subscription.toJSON();
    return { endpoint, p256dh: keys.p256dh, auth: keys.auth };
}

export function within(milliseconds, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new DOMException("no answer in time", "TimeoutError")), milliseconds);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
