/** The shape of a state: drawn, so that it is the same on every system and differs without colour. */
import type { ReactNode } from "react";
import styles from "./state.module.css";

export type StateShape =
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

const line = { fill: "none", stroke: "currentColor", strokeWidth: 1.75 } as const;
const round = { ...line, strokeLinecap: "round", strokeLinejoin: "round" } as const;
const ink = {
  fill: "none",
  stroke: "var(--bg1)",
  strokeWidth: 1.75,
  strokeLinecap: "round",
} as const;

const SHAPES: Record<StateShape, ReactNode> = {
  needs: (
    <>
      <path d="M8 .8 15.2 8 8 15.2.8 8z" fill="currentColor" />
      <path d="M8 4.6v4M8 11.2v.1" {...ink} />
    </>
  ),
  busy: <path className={styles.spin} d="M8 2.2A5.8 5.8 0 1 1 2.2 8" {...round} />,
  ready: <circle cx="8" cy="8" r="5" {...line} />,
  limited: (
    <path d="M4 2.2h8M4 13.8h8M5 2.2v2.6L8 8l3-3.2V2.2M5 13.8v-2.6L8 8l3 3.2v2.6" {...round} />
  ),
  error: (
    <>
      <path d="M5 1.5h6L14.5 5v6L11 14.5H5L1.5 11V5z" fill="currentColor" />
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" {...ink} />
    </>
  ),
  exited: <rect x="3" y="3" width="10" height="10" rx="1" {...line} />,
  killed: (
    <>
      <rect x="3" y="3" width="10" height="10" rx="1" {...line} />
      <path d="M3.5 12.5l9-9" {...line} />
    </>
  ),
  lost: <rect x="3" y="3" width="10" height="10" rx="1" {...line} strokeDasharray="2.4 2.2" />,
  unknown: (
    <>
      <circle cx="8" cy="8" r="6" {...line} strokeDasharray="1.6 2.2" />
      <path
        d="M6.4 6.6a1.7 1.7 0 1 1 2.4 1.7c-.5.3-.8.5-.8 1M8 11v.1"
        {...round}
        strokeWidth={1.4}
      />
    </>
  ),
  starting: (
    <>
      <circle cx="3" cy="8" r="1.5" fill="currentColor" />
      <circle cx="8" cy="8" r="1.5" fill="currentColor" />
      <circle cx="13" cy="8" r="1.5" fill="currentColor" />
    </>
  ),
  running: <path d="M5 3.4v9.2L12.2 8z" {...round} />,
};

const FILLED = <circle cx="8" cy="8" r="5.8" fill="currentColor" />;

/** Decorative: the word beside it, or the accessible name of the row, says the same. */
export function StateIcon({ shape, unread = false }: { shape: StateShape; unread?: boolean }) {
  const isFilled = unread && shape === "ready";
  return (
    <svg className={styles.icon} data-state={shape} viewBox="0 0 16 16" aria-hidden="true">
      {isFilled ? FILLED : SHAPES[shape]}
    </svg>
  );
}
