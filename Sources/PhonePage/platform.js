/* What kind of device this is, for the advice that differs. */

const agent = navigator.userAgent;

/** iPads call themselves Macs, but Macs have no touch screen. */
export const isIOS = /iPhone|iPad|iPod/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1);
export const isAndroid = /Android/.test(agent);

/** Firefox asks its user before it keeps a page's data for good. That is one question too many. */
export const asksForStorage = /Firefox/.test(agent);

export const isInstalled = () =>
    navigator.standalone === true || matchMedia("(display-mode: standalone)").matches;

/** iOS delivers pushes only to apps on the Home Screen. */
export const needsHomeScreen = () => isIOS && !isInstalled();

export const canReceive = () =>
    window.isSecureContext && "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
