/** What became of the messages that this page sent to agents. Pure. */
import type { Actions, Delivery, Dialog } from "../api/generated";
import type { ServerEvent } from "../lib/protocol";

/** `sending` until the server answers; `failed` when it refused the request. */
export type ReceiptState = "sending" | "failed" | "cancelled" | Delivery;

export interface Receipt {
  /** The idempotency key of the draft. */
  key: string;
  paneId: string;
  text: string;
  state: ReceiptState;
  sentAt: number;
  messageId?: string;
  evidence: readonly string[];
  position?: number | null;
  dialog?: Dialog | null;
  error?: string;
}

export type Receipts = ReadonlyMap<string, Receipt>;

type Answer = Actions["agent:message"]["answer"];

export const noReceipts: Receipts = new Map();

const MOST = 200;

export function sent(
  receipts: Receipts,
  draft: Pick<Receipt, "key" | "paneId" | "text" | "sentAt">,
): Receipts {
  const entries = [...receipts, [draft.key, { ...draft, state: "sending", evidence: [] }] as const];
  return new Map(entries.slice(-MOST) as [string, Receipt][]);
}

export function answered(receipts: Receipts, key: string, answer: Answer): Receipts {
  return change(receipts, key, {
    state: answer.outcome,
    messageId: answer.messageId,
    evidence: answer.evidence,
    position: answer.position ?? null,
    dialog: answer.dialog ?? null,
  });
}

export function failed(receipts: Receipts, key: string, error: string): Receipts {
  return change(receipts, key, { state: "failed", error });
}

/** It was taken out of the queue before it was typed. */
export function cancelled(receipts: Receipts, key: string): Receipts {
  return change(receipts, key, { state: "cancelled", position: null });
}

/** Whether nothing more happens to a message. */
export function isFinal(state: ReceiptState): boolean {
  return state !== "sending" && state !== "queued" && state !== "held";
}

/** `agent:delivered` has the final outcome, also of a message that was queued. */
export function applyEvent(receipts: Receipts, { name, payload }: ServerEvent): Receipts {
  if (name !== "agent:delivered") return receipts;
  for (const receipt of receipts.values()) {
    if (receipt.messageId !== payload.messageId) continue;
    // A cancelled message ends as refused.
    if (receipt.state === "cancelled") return receipts;
    const state = (payload.outcome ?? "unknown") as ReceiptState;
    const evidence = Array.isArray(payload.evidence) ? payload.evidence : receipt.evidence;
    return change(receipts, receipt.key, { state, evidence, position: null });
  }
  return receipts;
}

function change(receipts: Receipts, key: string, fields: Partial<Receipt>): Receipts {
  const receipt = receipts.get(key);
  return receipt ? new Map(receipts).set(key, { ...receipt, ...fields }) : receipts;
}
