/* What `Deploy/phone-page` knows of the folder it writes; it writes this file anew there. As it stands here, the page
   can be served from its sources, without working offline. */

/** Names the cache. It changes with every byte of the page. */
export const version = "source";

/** The files that make the page, relative to it. */
export const files = [];

/** The node's VAPID public key, where the page is for one node; else empty. */
export const vapidKey = "";
