/** Reads the timeline of a pane: at first, when its agent's state changes, and when it ends. */
import { useEffect, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { hasCode, sentence } from "../../lib/errors";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { type MarksAnswer, timelineOf } from "./read-marks";
import type { Timeline } from "./timeline";

export interface TimelineState {
  timeline: Timeline | null;
  /** Whether the server has answered: a pane that printed nothing has no timeline. */
  isLoaded: boolean;
  error: string | null;
  /** Reads it again, for a pane that prints. */
  reload: () => void;
}

export function useTimeline(pane: PaneInfo): TimelineState {
  const isOpen = useApp((state) => state.connection.state === "open");
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState({
    timeline: null as Timeline | null,
    isLoaded: false,
    error: null as string | null,
  });
  const { id, instance, status, agent } = pane;
  const key = `${instance} ${status} ${agent?.since ?? ""} ${turn}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` says when it has changed
  useEffect(() => {
    if (!isOpen) return;
    let isCurrent = true;
    socket.callAny("pane:marks", { paneId: id }).then(
      (answer) => {
        const timeline = timelineOf(answer as MarksAnswer);
        if (isCurrent) setState({ timeline, isLoaded: true, error: null });
      },
      (error) => {
        if (isCurrent && !hasCode(error, "unconfirmed"))
          setState((before) => ({ ...before, error: sentence(error) }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [id, key, isOpen]);
  return { ...state, reload: () => setTurn((before) => before + 1) };
}
