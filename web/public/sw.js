/*
 * The service worker of paned's page. It shows notifications and opens the page when one is
 * clicked. It caches nothing and sees no request, so that the page is always that of the server.
 */

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = event.notification.data?.path ?? "/";
  event.waitUntil(open(path));
});

/** Shows the path in a window that is open, or in a new one. */
async function open(path) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const inside = windows.filter((client) => client.url.startsWith(self.registration.scope));
  const [client] = inside.sort((a, b) => Number(b.focused) - Number(a.focused));
  if (!client) return self.clients.openWindow(`${self.registration.scope}#${path}`);
  client.postMessage({ open: path });
  return client.focus();
}
