/** The panes whose end of work this device is told about, by instance. */
import { create } from "zustand";

const KEY = "paned.awaited";

function stored(): readonly string[] {
  try {
    const list = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(list) ? list.filter((it) => typeof it === "string") : [];
  } catch {
    return [];
  }
}

export const useAwaited = create<{ instances: ReadonlySet<string> }>(() => ({
  instances: new Set(stored()),
}));

/** Begins or stops to wait for a pane. */
export function awaitPane(instance: string, isAwaited: boolean): void {
  const instances = new Set(useAwaited.getState().instances);
  if (isAwaited) instances.add(instance);
  else instances.delete(instance);
  useAwaited.setState({ instances });
  localStorage.setItem(KEY, JSON.stringify([...instances]));
}
