/** The shape of a mark: each kind has its own, so that colour is not needed. */
import styles from "./replay.module.css";
import type { MarkKind } from "./timeline";

const PATHS: Record<MarkKind, string> = {
  prompt: "M6 1.500 11 10.500H1Z",
  question: "M6 .5 11.500 6 6 11.500.5 6Z",
  ready: "M6 1.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9Z",
  state: "M6 3.500a2.500 2.500 0 1 1 0 5 2.500 2.500 0 0 1 0-5Z",
  exit: "M2 2h8v8H2Z",
  restart: "M1 2.500h5v7H1ZM7 2.500h4v7H7Z",
  other: "M5 1h2v10H5Z",
};

export function MarkIcon({ kind }: { kind: MarkKind }) {
  return (
    <svg className={styles.markIcon} data-kind={kind} viewBox="0 0 12 12" aria-hidden="true">
      <path d={PATHS[kind]} />
    </svg>
  );
}
