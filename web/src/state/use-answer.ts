/** The answer of a question to the server, asked again whenever the connection is back. */
import { useEffect, useState } from "react";
import type { Actions } from "../api/generated";
import { sentence } from "../lib/errors";
import { useApp } from "./store";
import { socket } from "./sync";

export interface AnswerState<T> {
  answer: T | null;
  error: string | null;
  isLoading: boolean;
  reload(): void;
}

/** `params` as `null` asks nothing. Answers to older parameters are dropped. */
export function useAnswer<N extends keyof Actions>(
  name: N,
  params: Actions[N]["params"] | null,
): AnswerState<Actions[N]["answer"]> {
  const isOpen = useApp((state) => state.connection.state === "open");
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState({
    answer: null as Actions[N]["answer"] | null,
    error: null as string | null,
    isLoading: params !== null,
  });
  const key = JSON.stringify(params);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `turn` asks again
  useEffect(() => {
    const asked = JSON.parse(key) as Actions[N]["params"] | null;
    if (asked === null || !isOpen) return;
    let isCurrent = true;
    setState((before) => ({ ...before, isLoading: true }));
    socket.call(name, asked).then(
      (answer) => isCurrent && setState({ answer, error: null, isLoading: false }),
      (error) => isCurrent && setState({ answer: null, error: sentence(error), isLoading: false }),
    );
    return () => {
      isCurrent = false;
    };
  }, [name, key, isOpen, turn]);
  return { ...state, reload: () => setTurn((before) => before + 1) };
}
