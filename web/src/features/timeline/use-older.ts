/** Reads older events page by page, when they are asked for. */
import { useCallback, useEffect, useRef, useState } from "react";
import { hasCode, sentence } from "../../lib/errors";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { addPage, type EventPage, nothingOlder, type Older } from "./entries";

const LIMIT = 200;

export interface OlderEvents {
  older: Older;
  isLoading: boolean;
  error: string | null;
  load(): void;
}

/** Older events than `opened`; another filter begins anew. The first page is read at once. */
export function useOlder(opened: number, include: string, paneId: string): OlderEvents {
  const isOpen = useApp((state) => state.connection.state === "open");
  const [older, setOlder] = useState<Older>(() => nothingOlder(opened + 1));
  const [error, setError] = useState<string | null>(null);
  const [isLoading, setLoading] = useState(false);
  const turn = useRef(0);
  const read = useCallback(
    async (from: Older) => {
      if (from.before === null) return;
      const own = ++turn.current;
      const isCurrent = () => own === turn.current;
      setLoading(true);
      const pane = paneId ? { paneId } : {};
      const params = { include: include || "*", before: from.before, limit: LIMIT, ...pane };
      try {
        const page = (await socket.callAny("event:list", params)) as EventPage;
        if (!isCurrent()) return;
        setOlder(addPage(from, page));
        setError(null);
      } catch (problem) {
        if (!isCurrent()) return;
        // A server without this action has no older events to offer.
        const hasNone = hasCode(problem, "not_found") || hasCode(problem, "forbidden");
        if (hasNone) setOlder({ ...from, before: null });
        else setError(sentence(problem));
      }
      setLoading(false);
    },
    [include, paneId],
  );
  const begun = useRef<typeof read | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another reader begins anew
  useEffect(() => {
    turn.current += 1;
    setOlder(nothingOlder(opened + 1));
    setLoading(false);
  }, [opened, read]);
  useEffect(() => {
    // Once for each filter: a reconnect keeps what was read.
    if (!isOpen || begun.current === read) return;
    begun.current = read;
    void read(nothingOlder(opened + 1));
  }, [isOpen, opened, read]);
  const load = () => {
    if (!isLoading) void read(older);
  };
  return { older, isLoading, error, load };
}
