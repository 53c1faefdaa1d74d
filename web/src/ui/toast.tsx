/** Short notes about what the user has just done. The layer is loaded with the first of them. */
import { lazy, Suspense, useSyncExternalStore } from "react";

export interface ToastNote {
  id: number;
  title: string;
  description?: string;
  tone?: "plain" | "danger";
  action?: { label: string; run: () => void };
}

const Popup = lazy(() => import("./toast-popup"));

let notes: readonly ToastNote[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(next: readonly ToastNote[]): void {
  notes = next;
  for (const listener of listeners) listener();
}

/** Shows a note. Errors that need an answer belong where they arose, not here. */
export function toast(note: Omit<ToastNote, "id">): void {
  set([...notes, { ...note, id: nextId++ }]);
}

/** The layer has taken over these notes. */
export function taken(ids: ReadonlySet<number>): void {
  set(notes.filter((note) => !ids.has(note.id)));
}

export function useNotes(): readonly ToastNote[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => notes,
  );
}

export function ToastLayer() {
  const wasUsed = useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => nextId > 1,
  );
  if (!wasUsed) return null;
  return (
    <Suspense fallback={null}>
      <Popup />
    </Suspense>
  );
}
