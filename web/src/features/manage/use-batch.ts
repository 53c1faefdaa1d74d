/** Runs one action on panes, a few at a time. */
import { useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { socket } from "../../state/sync";
import * as batch from "./batch";

const AT_ONCE = 4;

export function useBatch(verb: batch.Verb) {
  const [outcomes, setOutcomes] = useState<batch.Outcomes>({});
  const [startedAt, setStartedAt] = useState<number | null>(null);
  const put = (id: string, outcome: batch.Outcome) =>
    setOutcomes((before) => batch.set(before, id, outcome));
  const start = async (targets: readonly PaneInfo[], force = false) => {
    setStartedAt(Date.now());
    setOutcomes((before) => ({ ...before, ...batch.start(targets) }));
    const waiting = [...targets];
    const worker = async () => {
      for (let pane = waiting.shift(); pane; pane = waiting.shift()) {
        put(pane.id, { at: "running" });
        put(pane.id, await run(verb, pane.id, force).catch(batch.failure));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  };
  return { outcomes, startedAt, start };
}

async function run(verb: batch.Verb, paneId: string, force: boolean): Promise<batch.Outcome> {
  switch (verb) {
    case "kill":
      return batch.killed(await socket.call("pane:kill", { paneId, force }));
    case "close":
      return batch.closed(await socket.call("pane:close", { paneId, force }));
    case "remove":
      await socket.call("pane:remove", { paneId });
      return { at: "done", text: "removed", survivors: [] };
    case "restart":
      await socket.call("pane:restart", { paneId, force });
      return { at: "done", text: "restarted", survivors: [] };
  }
}
