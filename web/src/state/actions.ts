/** The actions of the server, read again when extensions add or remove some. */
import { useEffect, useState } from "react";
import { type ActionInfo, fetchActions } from "../lib/api";
import { sentence } from "../lib/errors";
import { useApp } from "./store";

export interface ActionsState {
  actions: readonly ActionInfo[] | null;
  error: string | null;
}

/** The last list, so that a page that is opened again has it at once. */
let latest: readonly ActionInfo[] | null = null;

const CHANGES = /^(action:(added|removed)|server:started)$/;

/** The id of the last event that changed the list. */
const lastChange = (state: ReturnType<typeof useApp.getState>) => {
  const entry = state.events.entries.findLast(
    (it) => it.kind === "event" && CHANGES.test(it.event.name),
  );
  return entry?.kind === "event" ? entry.event.id : 0;
};

export function useActions(): ActionsState {
  const isOpen = useApp((state) => state.connection.state === "open");
  const change = useApp(lastChange);
  const [state, setState] = useState<ActionsState>({ actions: latest, error: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: `change` reads the list again
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    fetchActions().then(
      (actions) => {
        latest = actions;
        if (isCurrent) setState({ actions, error: null });
      },
      (error) => isCurrent && setState({ actions: latest, error: sentence(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [isOpen, change]);
  return state;
}
