/** What was filled in and what was answered, by action; kept while the page is open. */
import { create } from "zustand";
import { runAction } from "../../lib/api";
import { CallError } from "../../lib/errors";

export type Run =
  | { state: "running"; startedAt: number; abort: AbortController }
  | { state: "answered"; answer: unknown; tookMs: number }
  | { state: "refused"; error: CallError; tookMs: number };

interface Runs {
  values: Readonly<Record<string, unknown>>;
  runs: Readonly<Record<string, Run>>;
}

export const useRuns = create<Runs>(() => ({ values: {}, runs: {} }));

export function setValue(name: string, value: unknown): void {
  useRuns.setState(({ values }) => ({ values: { ...values, [name]: value } }));
}

function setRun(name: string, run: Run): void {
  useRuns.setState(({ runs }) => ({ runs: { ...runs, [name]: run } }));
}

export function forgetRun(name: string): void {
  useRuns.setState(({ runs }) => {
    const { [name]: _, ...rest } = runs;
    return { runs: rest };
  });
}

/** Runs an action; what was run before it is answered to no one. */
export async function run(name: string, params: unknown): Promise<void> {
  const before = useRuns.getState().runs[name];
  if (before?.state === "running") return;
  const abort = new AbortController();
  const began = performance.now();
  setRun(name, { state: "running", startedAt: Date.now(), abort });
  const tookMs = () => Math.round(performance.now() - began);
  try {
    const answer = await runAction(name, params, abort.signal);
    setRun(name, { state: "answered", answer, tookMs: tookMs() });
  } catch (error) {
    if (abort.signal.aborted) return forgetRun(name);
    const refusal = error instanceof CallError ? error : new CallError("internal", String(error));
    setRun(name, { state: "refused", error: refusal, tookMs: tookMs() });
  }
}
