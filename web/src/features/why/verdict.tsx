/** The state in a sentence, how sure paned is, and since when. */
import type { AgentInfo, PaneInfo } from "../../api/generated";
import { age } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import { displayState } from "../../state/display";
import { StateBadge } from "../../ui";
import { SOURCES, STATES, SURE, sureness } from "./evidence";
import styles from "./why.module.css";

export function Verdict({ pane, agent }: { pane: PaneInfo; agent: AgentInfo }) {
  const now = useNow();
  const shown = displayState({ ...pane, agent });
  return (
    <div className={styles.verdict}>
      <h2 className={styles.title}>
        <StateBadge shape={shown.kind} word={shown.word} />
        <span>
          {pane.id} {STATES[agent.state]}
        </span>
      </h2>
      <p className={styles.sureness} data-doubtful={agent.confidence < SURE || undefined}>
        paned is {sureness(agent.confidence)}
      </p>
      <p className={styles.meta}>
        For {age(agent.since, now)}, mostly from its {SOURCES[agent.source]}, judged with the
        profile {agent.profile}
        {agent.until ? `, until ${new Date(agent.until).toLocaleTimeString()}` : ""}.
      </p>
    </div>
  );
}
