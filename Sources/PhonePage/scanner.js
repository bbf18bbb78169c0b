/* Reading QR codes with the camera, where the browser has a detector for them. */

import { button, element, say } from "./dom.js";
import { state } from "./state.js";

export const canScan = () => "BarcodeDetector" in window && Boolean(navigator.mediaDevices?.getUserMedia);

/** The text of the first QR code that the camera sees, or `null`. */
export async function scan() {
    const { words } = state;
    let stream;
    try {
        stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    } catch {
        say(words("camera_failed"));
        return null;
    }
    const video = element("video", { muted: true, playsinline: true, "aria-label": words("scan") });
    const dialog = element("dialog", { class: "scanner", "aria-label": words("scan") },
        video, element("p", {}, words("scan_hint")), button(words("cancel"), () => dialog.close(), { class: "secondary" }));
    document.body.append(dialog);
    dialog.showModal();
    try {
        video.srcObject = stream;
        await video.play();
        const detector = new BarcodeDetector({ formats: ["qr_code"] });
        while (dialog.open) {
            const [code] = await detector.detect(video);
            if (code) return code.rawValue;
            await new Promise((resolve) => setTimeout(resolve, 150));
        }
        return null;
    } catch {
        say(words("camera_failed"));
        return null;
    } finally {
        for (const track of stream.getTracks()) track.stop();
        dialog.remove();
    }
}
