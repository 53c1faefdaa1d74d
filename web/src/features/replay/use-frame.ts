/** The screen at a moment. One request at a time: what was asked meanwhile and is old is skipped. */
import { useEffect, useRef, useState } from "react";
import type { Actions } from "../../api/generated";
import { hasCode, sentence } from "../../lib/errors";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";

export type Screen = Actions["pane:screen"]["answer"] & {
  /** The moment that it is of. */
  at?: { time: string; truncatedStart?: boolean } | null;
};

export interface Frame {
  at: number;
  screen: Screen;
}

export function useFrame(
  paneId: string,
  at: number | null,
): { frame: Frame | null; error: string | null } {
  const isOpen = useApp((state) => state.connection.state === "open");
  const [frame, setFrame] = useState<Frame | null>(null);
  const [error, setError] = useState<string | null>(null);
  const wanted = useRef<number | null>(null);
  const isAsking = useRef(false);
  useEffect(() => {
    wanted.current = at;
    if (at === null || !isOpen || isAsking.current) return;
    const ask = async () => {
      isAsking.current = true;
      let shown: number | null = null;
      while (wanted.current !== null && wanted.current !== shown) {
        shown = wanted.current;
        const params = { paneId, format: "ansi", at: new Date(shown).toISOString() };
        const screen = (await socket.callAny("pane:screen", params)) as Screen;
        setFrame({ at: shown, screen });
        setError(null);
      }
    };
    ask()
      .catch((problem) => {
        if (!hasCode(problem, "unconfirmed")) setError(sentence(problem));
      })
      .finally(() => {
        isAsking.current = false;
      });
  }, [paneId, at, isOpen]);
  return { frame, error };
}
