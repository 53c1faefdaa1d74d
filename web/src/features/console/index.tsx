/** Every action of the server: its form, its answer, and the same as a command line. */
import { useLocation } from "wouter";
import { useDelayed, useMedia } from "../../lib/hooks";
import { useActions } from "../../state/actions";
import { EmptyState } from "../../ui";
import { ActionList } from "./action-list";
import { ActionView } from "./action-view";
import styles from "./console.module.css";

export default function ConsolePage() {
  const [path] = useLocation();
  const isPhone = useMedia("(max-width: 699px)");
  const { actions, error } = useActions();
  const encoded = path.split("/")[2] ?? "";
  const name = encoded ? decodeURIComponent(encoded) : null;
  if (!actions) return <NoActions error={error} />;
  const action = actions.find((it) => it.name === name) ?? null;
  return (
    <div className={styles.console}>
      {(!isPhone || !name) && <ActionList actions={actions} current={name} />}
      {action && <ActionView key={action.name} action={action} isPhone={isPhone} />}
      {!action && name && (
        <EmptyState title={`There is no action ${name}`}>
          <p>The extension that had it is not running, or the name was mistyped.</p>
        </EmptyState>
      )}
      {!name && !isPhone && (
        <EmptyState title="Choose an action">
          <p>
            Everything that paned does is an action. What you fill in is shown as curl and paned,
            too.
          </p>
        </EmptyState>
      )}
    </div>
  );
}

function NoActions({ error }: { error: string | null }) {
  const isSlow = useDelayed(400);
  if (error) return <EmptyState title="The actions cannot be shown">{error}</EmptyState>;
  return <EmptyState title={isSlow ? "Reading the actions…" : ""} />;
}
