/** Look, alerts, devices and keys. */
import { useEffect, useRef } from "react";
import { navigate, useQuery, withQuery } from "../../lib/route";
import { cx } from "../../ui";
import { AlertsSection } from "./alerts-section";
import { DevicesSection } from "./devices-section";
import { InstallSection } from "./install-section";
import { type KeyLine, KeysSection } from "./keys-section";
import { LookSection } from "./look-section";
import styles from "./settings.module.css";

const SECTIONS = [
  { id: "look", label: "Look" },
  { id: "alerts", label: "Alerts" },
  { id: "devices", label: "Devices" },
  { id: "keys", label: "Keys" },
  { id: "install", label: "Install" },
] as const;

export default function SettingsPage({ keys }: { keys: readonly KeyLine[] }) {
  const wanted = useQuery().get("s");
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!wanted) return;
    scroller.current?.querySelector(`#s-${CSS.escape(wanted)}`)?.scrollIntoView();
  }, [wanted]);
  return (
    <div ref={scroller} className={styles.page}>
      <nav className={styles.nav} aria-label="Settings">
        {SECTIONS.map(({ id, label }) => (
          <a
            key={id}
            href={`#${withQuery("/settings", { s: id })}`}
            className={cx(styles.link)}
            aria-current={wanted === id ? "true" : undefined}
            onClick={(event) => {
              event.preventDefault();
              navigate(withQuery("/settings", { s: id }), { replace: true });
              scroller.current?.querySelector(`#s-${id}`)?.scrollIntoView();
            }}
          >
            {label}
          </a>
        ))}
      </nav>
      <div className={styles.sections}>
        <LookSection />
        <AlertsSection />
        <DevicesSection />
        <KeysSection keys={keys} />
        <InstallSection />
      </div>
    </div>
  );
}
