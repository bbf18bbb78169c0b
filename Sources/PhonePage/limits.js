/* How long the page waits for the browser, in milliseconds. */

/** A storage that does not answer must not keep a notification from being shown. */
export const longestWork = 5000;

/** The worker first fetches all files. */
export const longestRegistration = 30_000;

/** A push service that can't be reached may never answer: Chromium without Google's services does not. */
export const longestSubscription = 30_000;
