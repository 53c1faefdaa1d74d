/** Pieces of evidence as sentences, each with its weight as a bar and a number. */
import type { AgentEvidence } from "../../api/generated";
import { SOURCES } from "./evidence";
import styles from "./why.module.css";

export interface EvidenceListProps {
  title: string;
  evidence: readonly AgentEvidence[];
  empty?: string;
}

export function EvidenceList({ title, evidence, empty }: EvidenceListProps) {
  return (
    <section className={styles.section} aria-label={title}>
      <h3 className={styles.sectionTitle}>{title}</h3>
      {evidence.length === 0 && <p className={styles.meta}>{empty}</p>}
      <ul className={styles.list}>
        {evidence.map((piece) => (
          <li key={`${piece.source} ${piece.says} ${piece.sentence}`} className={styles.piece}>
            <span className={styles.weight} title="Weight from 0 to 100">
              <span className={styles.number}>{Math.round(piece.weight * 100)}</span>
              <span className={styles.track} aria-hidden>
                <span className={styles.bar} style={{ width: `${piece.weight * 100}%` }} />
              </span>
            </span>
            <span className={styles.sentence}>{piece.sentence}</span>
            <span className={styles.source}>
              {SOURCES[piece.source]} says {piece.says}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
