/** The tokens of `grant:list` as the list of devices shows them. Pure. */
import type { Grant, Scope } from "../../api/generated";
import { count, span } from "../../lib/format";

export interface GrantLine {
  id: string;
  name: string;
  kind: "device" | "token" | "pane";
  facts: string;
  isOwn: boolean;
  isExpired: boolean;
}

const ORDER = ["device", "token", "pane"] as const;

/** This device first, then devices, tokens, and those of panes; the newest first in each. */
export function grantLines(grants: readonly Grant[], own: string | null, now: number): GrantLine[] {
  const lines = grants.map((grant) => ({ line: lineOf(grant, own, now), at: grant.createdAt }));
  lines.sort(
    (a, b) =>
      Number(b.line.isOwn) - Number(a.line.isOwn) ||
      ORDER.indexOf(a.line.kind) - ORDER.indexOf(b.line.kind) ||
      (a.at < b.at ? 1 : -1),
  );
  return lines.map(({ line }) => line);
}

function lineOf(grant: Grant, own: string | null, now: number): GrantLine {
  const kind = grant.pane ? "pane" : grant.device ? "device" : "token";
  const unnamed = { device: "Device without a name", token: "Token without a label", pane: "" };
  const name = grant.label || (grant.pane ? `Pane ${grant.pane.id}` : unnamed[kind]);
  const until = grant.expiresAt ? Date.parse(grant.expiresAt) : null;
  const isExpired = until !== null && until <= now;
  const facts = [scopeWords(grant.scopes), panesWords(grant), expiryWords(until, now)];
  return {
    id: grant.id,
    name,
    kind,
    facts: facts.join(" · "),
    isOwn: grant.id === own,
    isExpired,
  };
}

const ALL: readonly Scope[] = ["read", "input", "spawn", "kill", "approve", "admin"];

export function scopeWords(scopes: readonly Scope[]): string {
  if (scopes.includes("admin")) return "may do everything";
  return `may ${ALL.filter((scope) => scopes.includes(scope)).join(", ")}`;
}

function panesWords({ panes }: Grant): string {
  return panes === "all" ? "all panes" : count(panes.only.length, "pane");
}

function expiryWords(until: number | null, now: number): string {
  if (until === null) return "does not expire";
  return until <= now ? "expired" : `expires in ${span(until - now)}`;
}

/** What a new device may do. */
export const ROLES: readonly { id: string; label: string; scopes: readonly Scope[] }[] = [
  { id: "all", label: "Everything", scopes: ALL },
  { id: "answer", label: "Watch, type and answer", scopes: ["read", "input", "approve"] },
  { id: "watch", label: "Only watch", scopes: ["read"] },
];

const DAY = 24 * 3600;

export const PERIODS: readonly { seconds: number; label: string }[] = [
  { seconds: DAY, label: "1 day" },
  { seconds: 30 * DAY, label: "30 days" },
  { seconds: 365 * DAY, label: "1 year" },
];

/** Whether only the machine itself can open this address. */
export function isLoopback(address: string): boolean {
  try {
    const { hostname } = new URL(address);
    return /^(localhost|127\.[\d.]+|\[::1\]|.*\.localhost)$/.test(hostname);
  } catch {
    return false;
  }
}
