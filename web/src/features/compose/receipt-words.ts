/** Each receipt as a word and a sentence; its icon differs too, so colour is never needed. Pure. */
import type { Receipt, ReceiptState } from "../../state/receipts";

export const MEANINGS: Record<ReceiptState, string> = {
  sending: "It is on its way. It is kept on this device until paned confirms it.",
  submitted: "The agent was seen to accept it.",
  queued: "It is typed when the agent is ready.",
  held: "A draft in the agent’s own input is in the way. It is typed when that is gone.",
  drafted: "It is in the agent’s input, and was not seen to be submitted. Check the terminal.",
  refused: "Nothing was typed. The text is back in the field.",
  unknown:
    "It was typed; what became of it cannot be told. Check the terminal before you repeat it.",
  failed: "It was not sent. The text is back in the field.",
  cancelled: "It was taken out of the queue. The text is back in the field.",
};

export function wordOf({ state, position }: Pick<Receipt, "state" | "position">): string {
  if (state === "queued" && position) return `queued #${position}`;
  return state === "failed" ? "not sent" : state;
}

/** Whether it should be read now, without a press. */
export function isProblem(state: ReceiptState): boolean {
  return ["held", "drafted", "refused", "unknown", "failed"].includes(state);
}

export function isWaiting(state: ReceiptState): boolean {
  return state === "queued" || state === "held";
}
