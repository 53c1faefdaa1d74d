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
    if (wanted && scroller.current) return stayAt(scroller.current, `s-${wanted}`);
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
              if (scroller.current) stayAt(scroller.current, `s-${id}`);
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

/** Scrolls to a section, again while lists above it load, until the user does something. */
function stayAt(scroller: HTMLElement, id: string): () => void {
  const scroll = () => {
    const section = document.getElementById(id);
    if (!section) return;
    const by = section.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollBy({ top: by - 16 });
  };
  const sizes = new ResizeObserver(scroll);
  for (const child of scroller.children) sizes.observe(child);
  const acts = ["wheel", "touchstart", "pointerdown", "keydown"] as const;
  const end = () => {
    sizes.disconnect();
    for (const act of acts) window.removeEventListener(act, end);
  };
  for (const act of acts) window.addEventListener(act, end, { passive: true });
  scroll();
  return end;
}
