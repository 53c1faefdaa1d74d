/** Keeps unread marks on this device and shares them between tabs. */
import { useApp } from "./store";
import { markSeen, markUnread, merge, noUnread, type Unread } from "./unread";

const KEY = "paned.unread";

/** The marks that were kept, or nothing on a device that has never shown this page. */
export function storedUnread(): Unread | null {
  try {
    const text = localStorage.getItem(KEY);
    return text ? { ...noUnread, ...JSON.parse(text) } : null;
  } catch {
    return null;
  }
}

/** Writes changes after a moment, and takes over those of other tabs. */
export function keepUnread(): () => void {
  let timer: number | undefined;
  const write = () => localStorage.setItem(KEY, JSON.stringify(useApp.getState().unread));
  const unsubscribe = useApp.subscribe((state, before) => {
    if (state.unread === before.unread) return;
    window.clearTimeout(timer);
    if (state.unread.marks !== before.unread.marks) write();
    else timer = window.setTimeout(write, 1_000);
  });
  const changed = (event: StorageEvent) => {
    const theirs = event.key === KEY ? storedUnread() : null;
    if (theirs) useApp.setState((state) => ({ unread: merge(state.unread, theirs) }));
  };
  window.addEventListener("storage", changed);
  return () => {
    unsubscribe();
    window.removeEventListener("storage", changed);
  };
}

export function seen(instance: string): void {
  useApp.setState((state) => ({ unread: markSeen(state.unread, instance) }));
}

export function unseen(instance: string): void {
  const time = new Date().toISOString();
  useApp.setState((state) => ({ unread: markUnread(state.unread, instance, time) }));
}
