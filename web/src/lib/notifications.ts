/** Notifications of the browser, through the page's service worker: phones need one. */
import { navigate, panePath } from "./route";

export type Permission = NotificationPermission | "unsupported";

export function permission(): Permission {
  const isSupported = "Notification" in window && "serviceWorker" in navigator;
  return isSupported && window.isSecureContext ? Notification.permission : "unsupported";
}

/** Asks the user; only from a click. */
export async function askPermission(): Promise<Permission> {
  if (permission() !== "default") return permission();
  return Notification.requestPermission();
}

let registration: Promise<ServiceWorkerRegistration> | null = null;

function worker(): Promise<ServiceWorkerRegistration> {
  registration ??= navigator.serviceWorker
    .register(new URL("sw.js", document.baseURI))
    .then(() => navigator.serviceWorker.ready);
  return registration;
}

export async function showNotification(
  tag: string,
  title: string,
  body: string,
  paneId: string | null,
): Promise<void> {
  const path = paneId === null ? "/" : panePath(paneId);
  const icon = new URL("icon-192.png", document.baseURI).href;
  const options = { tag, body, icon, silent: true, data: { path } };
  await (await worker()).showNotification(title, options);
}

export async function closeNotification(tag: string): Promise<void> {
  const open = await (await worker()).getNotifications({ tag });
  for (const notification of open) notification.close();
}

/** A click on a notification opens its pane; it never answers. */
export function followClicks(): () => void {
  if (!("serviceWorker" in navigator)) return () => {};
  const clicked = (event: MessageEvent) => {
    const path = event.data?.open;
    if (typeof path === "string" && path.startsWith("/")) navigate(path);
  };
  navigator.serviceWorker.addEventListener("message", clicked);
  return () => navigator.serviceWorker.removeEventListener("message", clicked);
}
