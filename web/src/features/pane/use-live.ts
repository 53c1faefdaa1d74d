/** The live terminal of one life of a pane: its channel, what was skipped, what was typed. */
import { useMemo, useRef, useState } from "react";
import type { PaneInfo, Size } from "../../api/generated";
import type { Channel } from "../../lib/channel";
import { type CallError, hasCode, sentence } from "../../lib/errors";
import type { ChannelExit } from "../../lib/protocol";
import { details, onServerEvent, socket } from "../../state/sync";
import type { Emulator } from "./emulator";
import { Feed, type FeedEvents, type Skip } from "./feed";

/** Rows of scrollback that are asked for before the screen. */
const HISTORY = 1_000;

export interface Live {
  emulator: Emulator | null;
  isOpened: boolean;
  skip: Skip | null;
  exit: ChannelExit | null;
  /** The pane of this life is gone, or a newer one has its name. */
  isGone: boolean;
  failure: string | null;
  /** Bytes that were typed and not confirmed before the connection was lost. */
  unconfirmed: number;
  refusal: string | null;
}

const NEW: Live = {
  emulator: null,
  isOpened: false,
  skip: null,
  exit: null,
  isGone: false,
  failure: null,
  unconfirmed: 0,
  refusal: null,
};

export function useLive(pane: PaneInfo) {
  const [live, setLive] = useState(NEW);
  const first = useRef(pane).current;
  const actions = useMemo(() => {
    const change = (fields: Partial<Live>) => setLive((before) => ({ ...before, ...fields }));
    const typed = (text: string) => (error: unknown) => {
      if (!hasCode(error, "unconfirmed")) return change({ refusal: sentence(error) });
      const bytes = new TextEncoder().encode(text).length;
      setLive((before) => ({ ...before, unconfirmed: before.unconfirmed + bytes }));
    };
    return {
      change,
      connect: (emulator: Emulator) => connect(first, emulator, change),
      type(text: string): void {
        const sent = socket.request({ type: "input", pane: first.id, text });
        sent.catch(typed(text));
      },
      typeBytes(base64: string): void {
        socket.request({ type: "input", pane: first.id, base64 }).catch(typed(atob(base64)));
      },
      async paste(text: string): Promise<void> {
        try {
          const { warning } = await socket.call("pane:paste", { paneId: first.id, text });
          if (warning) change({ refusal: warning });
        } catch (error) {
          change({ refusal: sentence(error) });
        }
      },
    };
  }, [first]);
  return { live, ...actions };
}

function connect(pane: PaneInfo, emulator: Emulator, change: (fields: Partial<Live>) => void) {
  const events: FeedEvents = {
    opened: () => change({ isOpened: true }),
    skipped: (skip) => {
      change({ skip });
      // How much of it is kept.
      details.refresh(pane.id);
    },
    exited: (exit) => change({ exit }),
    gone: () => change({ isGone: true }),
    failed: (error: CallError) => change({ failure: error.message }),
  };
  const feed = new Feed(emulator, events);
  const options = { createdAt: pane.createdAt, history: HISTORY };
  const channel: Channel = socket.open(pane.id, feed, options);
  feed.follow(channel);
  change({ emulator });
  const stop = onServerEvent(({ name, payload }) => {
    if (name !== "pane:resized" || payload.instance !== pane.instance) return;
    feed.resized(payload.size as Size, payload.offset);
  });
  return () => {
    stop();
    feed.end();
    channel.close();
    change({ emulator: null });
  };
}
