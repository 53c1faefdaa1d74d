/** Notifications: off until the user turns them on, and what they may say. */
import { useState } from "react";
import { askPermission, type Permission, permission } from "../../lib/notifications";
import { prefer, usePreferences } from "../../lib/preferences";
import { awaitPane, useAwaited } from "../../state/awaited";
import { useApp } from "../../state/store";
import { Button } from "../../ui";
import { Section, Switch } from "./section";
import styles from "./settings.module.css";

const PROBLEMS: Partial<Record<Permission, string>> = {
  denied:
    "This browser blocks notifications of this page. Allow them in its settings for the site.",
  unsupported:
    "This browser shows notifications only for pages over https, or from this machine. On an iPhone, install the page first.",
};

export function AlertsSection() {
  const { alerts, alertText } = usePreferences();
  const [state, setState] = useState(permission);
  const turn = async (on: boolean) => {
    const granted = on ? await askPermission() : state;
    setState(granted);
    prefer({ alerts: on && granted === "granted" });
  };
  const problem = PROBLEMS[state];
  return (
    <Section id="alerts" title="Alerts">
      <Switch
        label="Notify when a pane needs you"
        hint={
          problem ??
          "After 5 seconds, while you look elsewhere. Silent; gone when it is answered anywhere; several at once become one. Title and icon of the tab always tell."
        }
        checked={alerts && state === "granted"}
        disabled={problem !== undefined}
        onChange={(on) => void turn(on)}
      />
      <Switch
        label="Show the question"
        hint="Notifications can be on the lock screen, so what agents ask is left out."
        checked={alertText}
        disabled={!alerts}
        onChange={(on) => prefer({ alertText: on })}
      />
      <Awaited />
    </Section>
  );
}

/** The panes that tell when they are done, which is asked for in the menu of each. */
function Awaited() {
  const instances = useAwaited((it) => it.instances);
  const panes = useApp((it) => it.panes);
  const awaited = [...panes.values()].filter((pane) => instances.has(pane.instance));
  return (
    <div className={styles.setting}>
      <div className={styles.words}>
        <span>Tell me when done</span>
        <p className={styles.hint}>
          {awaited.length === 0
            ? "In the menu of a pane: one notification when its agent or program is done."
            : "One notification each, when its agent or program is done:"}
        </p>
        {awaited.length > 0 && (
          <ul className={styles.awaited}>
            {awaited.map((pane) => (
              <li key={pane.instance}>
                <span className={styles.name}>{pane.id}</span>
                <Button size="small" tone="quiet" onClick={() => awaitPane(pane.instance, false)}>
                  Forget
                </Button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
