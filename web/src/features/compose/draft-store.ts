/** Keeps drafts on this device and sends prompts, each with the one key of its draft. */
import { create } from "zustand";
import { CallError, hasCode, sentence } from "../../lib/errors";
import * as receipts from "../../state/receipts";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import * as drafts from "./drafts";

const PREFIX = "paned.draft.";

const useDrafts = create<Record<string, drafts.Draft>>(() => ({}));

function draftOf(instance: string): drafts.Draft {
  return useDrafts.getState()[instance] ?? drafts.parse(localStorage.getItem(PREFIX + instance));
}

export function useDraft(instance: string): drafts.Draft {
  const kept = useDrafts((state) => state[instance]);
  return kept ?? draftOf(instance);
}

export function change(instance: string, to: (draft: drafts.Draft) => drafts.Draft): void {
  const draft = to(draftOf(instance));
  useDrafts.setState({ [instance]: draft });
  const isEmpty = draft.text === "" && draft.sent.length === 0;
  if (isEmpty) localStorage.removeItem(PREFIX + instance);
  else localStorage.setItem(PREFIX + instance, JSON.stringify(draft));
}

export interface Target {
  paneId: string;
  instance: string;
}

/** Sends what is written; it is kept on this device before it leaves. */
export function send(target: Target): void {
  const { text } = draftOf(target.instance);
  if (text.trim() === "") return;
  const key = newKey();
  change(target.instance, (it) => drafts.sent(it, key, Date.now()));
  void deliver(target, { key, text, sentAt: Date.now() });
}

/** Sends one prompt to a pane without touching its draft. */
export function sendText(target: Target, text: string): string {
  const key = newKey();
  const kept = { key, text, sentAt: Date.now() };
  change(target.instance, (it) => ({ ...it, sent: [...it.sent, kept] }));
  void deliver(target, kept);
  return key;
}

/** Not `randomUUID`, which pages without TLS do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const underWay = new Set<string>();

/** Asks for the receipts of prompts that have none: the same key never types a text again. */
export function resume(target: Target): void {
  const { fresh, old } = drafts.toResume(draftOf(target.instance), Date.now());
  const known = useApp.getState().receipts;
  for (const prompt of fresh) {
    const state = known.get(prompt.key)?.state;
    if (state === undefined || state === "sending") void deliver(target, prompt);
  }
  for (const { key } of old) change(target.instance, (it) => drafts.settled(it, key));
}

async function deliver({ paneId, instance }: Target, prompt: drafts.Sent): Promise<void> {
  const { key, text, sentAt } = prompt;
  if (underWay.has(key)) return;
  underWay.add(key);
  update((it) => (it.has(key) ? it : receipts.sent(it, { key, paneId, text, sentAt })));
  try {
    const params = { paneId, text, idempotencyKey: key };
    const answer = await socket.call("agent:message", params);
    update((it) => receipts.answered(it, key, answer));
    settleIfFinal(instance, key);
  } catch (error) {
    // Without a confirmation it stays as it is, and is asked for when the connection is back.
    if (hasCode(error, "unconfirmed") || hasCode(error, "offline")) return;
    update((it) => receipts.failed(it, key, sentence(error)));
    change(instance, (it) => drafts.returned(it, key));
  } finally {
    underWay.delete(key);
  }
}

/** After a receipt has changed: a final one ends the draft; a refused prompt comes back. */
export function settleIfFinal(instance: string, key: string): void {
  const receipt = useApp.getState().receipts.get(key);
  if (!receipt || !receipts.isFinal(receipt.state)) return;
  const wasNotTyped = receipt.state === "refused" || receipt.state === "failed";
  change(instance, (it) => (wasNotTyped ? drafts.returned(it, key) : drafts.settled(it, key)));
}

/** Takes a prompt out of the queue; its text comes back into the field. */
export async function cancel(target: Target, key: string): Promise<string | null> {
  const messageId = useApp.getState().receipts.get(key)?.messageId;
  if (!messageId) return null;
  try {
    await socket.callAny("agent:cancel", { paneId: target.paneId, messageId });
    update((it) => receipts.cancelled(it, key));
    change(target.instance, (it) => drafts.returned(it, key));
    return null;
  } catch (error) {
    return error instanceof CallError ? error.message : sentence(error);
  }
}

function update(to: (before: receipts.Receipts) => receipts.Receipts): void {
  useApp.setState((state) => ({ receipts: to(state.receipts) }));
}
