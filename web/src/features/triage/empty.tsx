/** What the list shows when it has no rows. */
import { run } from "../../lib/commands";
import { Button, EmptyState } from "../../ui";
import styles from "./triage.module.css";

export function NoPanes() {
  const actions = (
    <>
      <Button tone="primary" onClick={() => run("new")}>
        New agent
      </Button>
      <Button onClick={() => run("new-pane")}>New pane</Button>
    </>
  );
  return (
    <EmptyState title="No panes yet" actions={actions}>
      <p>On a terminal:</p>
      <code className={styles.command}>paned new -- top</code>
    </EmptyState>
  );
}

export function NoMatch({ filter, onClear }: { filter: string; onClear: () => void }) {
  return (
    <EmptyState title="No match" actions={<Button onClick={onClear}>Clear the filter</Button>}>
      <p className={styles.wrap}>No pane has all of “{filter}”.</p>
    </EmptyState>
  );
}
