/** Who may use this paned: devices, tokens and panes, and a code for another device. */
import { QrCode } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { sentence } from "../../lib/errors";
import { count } from "../../lib/format";
import { useDelayed, useNow } from "../../lib/hooks";
import { ownGrant } from "../../lib/session";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { useAnswer } from "../../state/use-answer";
import { Banner, Button, toast } from "../../ui";
import { type GrantLine, grantLines } from "./devices";
import { NewDevice } from "./new-device";
import { Section } from "./section";
import styles from "./settings.module.css";

/** Grants change by these events. */
const isGrantEvent = (name: string) => name.startsWith("grant:");

export function DevicesSection() {
  const { answer, error, isLoading, reload } = useAnswer("grant:list", {});
  const [isAdding, setAdding] = useState(false);
  const now = useNow();
  const latest = useApp((state) => {
    const entry = state.events.entries.findLast(
      (it) => it.kind === "event" && isGrantEvent(it.event.name),
    );
    return entry?.kind === "event" ? entry.event.id : 0;
  });
  const read = useRef(reload);
  read.current = reload;
  useEffect(() => {
    if (latest > 0) read.current();
  }, [latest]);
  const lines = grantLines(answer ?? [], ownGrant(), now);
  const ofPanes = lines.filter((line) => line.kind === "pane");
  const add = (
    <Button icon={<QrCode size={16} />} onClick={() => setAdding(true)} disabled={error !== null}>
      Sign in another device
    </Button>
  );
  return (
    <Section id="devices" title="Devices" action={add}>
      {error && <Banner tone="warning">The devices cannot be listed: {error}</Banner>}
      {!error && lines.length === 0 && (isLoading ? <Waiting /> : <None />)}
      <DeviceList lines={lines.filter((line) => line.kind !== "pane")} onChange={reload} />
      {ofPanes.length > 0 && (
        <details className={styles.fold}>
          <summary>{count(ofPanes.length, "token")} of panes</summary>
          <DeviceList lines={ofPanes} onChange={reload} />
        </details>
      )}
      {isAdding && <NewDevice onClose={() => setAdding(false)} />}
    </Section>
  );
}

function DeviceList({ lines, onChange }: { lines: readonly GrantLine[]; onChange: () => void }) {
  return (
    <ul>
      {lines.map((line) => (
        <Device key={line.id} line={line} onChange={onChange} />
      ))}
    </ul>
  );
}

function Waiting() {
  return <p className={styles.none}>{useDelayed(200) ? "Loading…" : " "}</p>;
}

function None() {
  return (
    <p className={styles.none}>
      No device has signed in and no token was made. This page uses the owner's token.
    </p>
  );
}

const KINDS: Record<GrantLine["kind"], string> = { device: "Device", token: "Token", pane: "Pane" };

function Device({ line, onChange }: { line: GrantLine; onChange: () => void }) {
  const [isSure, setSure] = useState(false);
  const revoke = async () => {
    if (!isSure) return setSure(true);
    try {
      await socket.call("grant:revoke", { id: line.id });
      toast({ title: `${line.name} was signed out` });
      onChange();
    } catch (error) {
      toast({ title: "This was not revoked", description: sentence(error), tone: "danger" });
    }
  };
  return (
    <li className={styles.setting} data-expired={line.isExpired || undefined}>
      <div className={styles.words}>
        <span className={styles.name}>
          {line.name}
          {line.isOwn && <em className={styles.own}>this device</em>}
        </span>
        <p className={styles.hint}>
          {KINDS[line.kind]} · {line.facts}
        </p>
      </div>
      <Button
        size="small"
        tone={isSure ? "danger" : "plain"}
        onClick={() => void revoke()}
        onBlur={() => setSure(false)}
      >
        {isSure ? "Press again to sign out" : "Revoke"}
      </Button>
    </li>
  );
}
