/** The evidence of a state, in words. Pure. */
import type { Actions, AgentEvidence, AgentState, StateSource } from "../../api/generated";

export type Explanation = Actions["agent:explain"]["answer"];

/** Below this, the judgement is doubtful. */
export const SURE = 0.7;

export const SOURCES: Record<StateSource, string> = {
  hook: "hook",
  title: "title",
  osc: "status report",
  screen: "screen",
  process: "process",
  input: "input",
  quiet: "activity",
};

/** What the state means, after the name of the pane. */
export const STATES: Record<AgentState, string> = {
  starting: "is starting",
  ready: "waits for a prompt",
  busy: "is working",
  blocked: "waits for an answer",
  limited: "has reached a usage limit",
  error: "failed in its last turn",
  exited: "has exited",
  unknown: "is in a state that cannot be told",
};

/** `97 % sure`, or that it is not. */
export function sureness(confidence: number): string {
  const percent = `${Math.round(confidence * 100)} %`;
  return confidence < SURE ? `not sure (${percent})` : `${percent} sure`;
}

/** What supports the state, and what speaks for another one; strongest first. */
export function sides(explanation: Explanation): {
  supporting: AgentEvidence[];
  against: AgentEvidence[];
} {
  const reasons = [...explanation.reasons].sort((a, b) => b.weight - a.weight);
  const { state } = explanation.agent;
  return {
    supporting: reasons.filter((it) => it.says === state),
    against: reasons.filter((it) => it.says !== state),
  };
}

/** The input line of the agent, as a sentence. */
export function composerOf({ composer }: Explanation): string {
  if (composer.state === "hidden") return "Its input line is not on the screen.";
  if (composer.state === "empty") return "Its input line is empty.";
  return `Its input line has a draft: “${composer.text ?? ""}”.`;
}

export interface Correction {
  paneId: string;
  program: readonly string[];
  judged: AgentState;
  actual: AgentState | "other";
  comment: string;
  at: string;
}

/** A test case: what was judged, what was right, the evidence, and the recording. */
export function testCase(
  correction: Correction,
  explanation: Explanation,
  recording: Actions["agent:record"]["answer"],
): string {
  return JSON.stringify({ version: 1, ...correction, explanation, recording }, null, 2);
}

/** A file name without characters that file systems refuse. */
export function fileName({ paneId, judged, actual, at }: Correction): string {
  const time = at.replaceAll(/[:.]/g, "-");
  return `paned-${paneId}-${judged}-not-${actual}-${time}.json`;
}
