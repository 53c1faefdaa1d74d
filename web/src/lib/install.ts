/** The browser's offer to install the page, kept until the user asks for it. */
import { useSyncExternalStore } from "react";

interface InstallPrompt extends Event {
  prompt(): Promise<unknown>;
}

let offer: InstallPrompt | null = null;
const listeners = new Set<() => void>();

function set(next: InstallPrompt | null): void {
  offer = next;
  for (const listener of listeners) listener();
}

/** Called once at the start: browsers make the offer early. */
export function followInstallOffer(): void {
  window.addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    set(event as InstallPrompt);
  });
  window.addEventListener("appinstalled", () => set(null));
}

export function useInstallable(): boolean {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => offer !== null,
  );
}

export async function install(): Promise<void> {
  const prompt = offer;
  set(null);
  await prompt?.prompt();
}
