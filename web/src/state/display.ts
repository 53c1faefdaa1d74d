/** The state of a pane as one kind and one word: what badges, groups and titles show. Pure. */
import type { BlockKind, PaneInfo } from "../api/generated";

export type StateKind =
  | "needs"
  | "busy"
  | "ready"
  | "limited"
  | "error"
  | "exited"
  | "killed"
  | "lost"
  | "unknown"
  | "starting"
  | "running";

export interface DisplayState {
  kind: StateKind;
  word: string;
  /** Since when. */
  since: string;
}

const QUESTIONS: Record<BlockKind, string> = {
  permission: "permission",
  plan: "plan",
  question: "question",
  trust: "trust",
  login: "login",
  limit: "limit",
};

export function displayState(pane: PaneInfo): DisplayState {
  if (pane.status !== "running" && pane.status !== "starting") return ended(pane);
  const agent = pane.agent;
  if (!agent || agent.state === "exited") {
    const kind = pane.status === "starting" ? "starting" : "running";
    return { kind, word: kind, since: pane.createdAt };
  }
  const since = agent.since;
  switch (agent.state) {
    case "blocked":
      return { kind: "needs", word: QUESTIONS[agent.kind ?? "question"], since };
    case "busy":
      return { kind: "busy", word: "busy", since };
    case "ready":
      return { kind: "ready", word: "ready", since };
    case "limited":
      return { kind: "limited", word: "limited", since };
    case "error":
      return { kind: "error", word: "error", since };
    case "starting":
      return { kind: "starting", word: "starting", since };
    case "unknown":
      return { kind: "unknown", word: "unknown", since };
  }
}

function ended(pane: PaneInfo): DisplayState {
  const since = pane.endedAt ?? pane.createdAt;
  if (pane.status === "lost") return { kind: "lost", word: "lost", since };
  if (pane.status === "killed") return { kind: "killed", word: "killed", since };
  if (pane.timedOut) return { kind: "error", word: "timed out", since };
  if (pane.exitSignal) return { kind: "error", word: pane.exitSignal, since };
  if (pane.exitCode) return { kind: "error", word: `exit ${pane.exitCode}`, since };
  return { kind: "exited", word: "exit 0", since };
}
