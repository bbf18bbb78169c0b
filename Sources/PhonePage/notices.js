/* How a notice reads: on the phone's lock screen, in the list, and in detail. */

/** Bisq's set-up confirmation and ERASE carry no text, and a notice may lack one: then its kind stands for it. */
export function titleOf(notice, words) {
    return notice.title || words(`kind_${notice.kind}`);
}

export function messageOf(notice, words) {
    if (notice.message) return notice.message;
    if (notice.kind === "SETUP_CONFIRMATION") return words("paired_text");
    if (notice.kind === "ERASE") return words("erased_text");
    return "";
}

const longestDelay = 31 * 24 * 3600 * 1000; // push services keep a message for 30 days
const clockError = 10 * 60 * 1000;
const longestErase = 24 * 3600 * 1000;

const isDated = ({ notice, received }) =>
    notice?.sentDate > received - longestDelay && notice.sentDate < received + clockError;

/** When it was sent, unless the sender's clock and this one are too far apart; then when it came. */
export const timeOf = (push) => (isDated(push) ? push.notice.sentDate : push.received);

/**
 * Whether an ERASE is obeyed. Bisq 1's cipher does not show what was forged, and an old message can be handed in again: so
 * it has to have a date of the last day that is later than `last`, the date of the last one that was obeyed. Bisq's own has
 * no text; one with text was another kind of message before somebody changed its bits.
 */
export function isObeyed({ notice: { sentDate, title, message, tradeId }, received }, last) {
    if (title || message || tradeId) return false;
    // One that is still to come was obeyed by a clock that was ahead: it must not hold up those of today.
    const isNew = sentDate > last || last >= received + clockError;
    return isNew && sentDate >= received - longestErase && sentDate < received + clockError;
}

/** Whether an ERASE of that date erases what came before it: what was sent before it, or has no date and may have been. */
export const isErased = (push, sentDate) => (isDated(push) ? timeOf(push) : push.received - clockError) <= sentDate;

/** The newest first. Of two with one time the later one to come is first. */
export const byTime = (one, other) => timeOf(other) - timeOf(one) || other.id - one.id;
