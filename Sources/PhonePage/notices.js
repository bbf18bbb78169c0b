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

/** When it was sent, unless the sender's clock and this one are too far apart; then when it came. */
export function timeOf({ notice, received }) {
    const isLikely = notice.sentDate > received - longestDelay && notice.sentDate < received + clockError;
    return isLikely ? notice.sentDate : received;
}

/** The newest first. Of two with one time the later one to come is first. */
export const byTime = (one, other) => timeOf(other) - timeOf(one) || other.id - one.id;
