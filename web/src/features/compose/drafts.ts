/**
 * Drafts by the instance of a pane: a text that is being written, and prompts that were sent and
 * have no final receipt yet. A prompt keeps its idempotency key until then. Pure.
 */

export interface Sent {
  key: string;
  text: string;
  sentAt: number;
}

export interface Draft {
  text: string;
  sent: readonly Sent[];
}

export const noDraft: Draft = { text: "", sent: [] };

/** The server keeps keys for a day: an older prompt could be typed a second time. */
const KEY_KEPT_MS = 12 * 60 * 60 * 1000;

export function written(draft: Draft, text: string): Draft {
  return { ...draft, text };
}

/** The text becomes a prompt with this key; the field is free for the next one. */
export function sent(draft: Draft, key: string, now: number): Draft {
  return { text: "", sent: [...draft.sent, { key, text: draft.text, sentAt: now }] };
}

/** A prompt has its final receipt. */
export function settled(draft: Draft, key: string): Draft {
  return { ...draft, sent: draft.sent.filter((it) => it.key !== key) };
}

/** A prompt was not typed: its text comes back, above what was written meanwhile. */
export function returned(draft: Draft, key: string): Draft {
  const prompt = draft.sent.find((it) => it.key === key);
  if (!prompt) return draft;
  const text = draft.text ? `${prompt.text}\n${draft.text}` : prompt.text;
  return settled({ ...draft, text }, key);
}

/** The prompts to ask for again after a reload, and those that are too old for that. */
export function toResume(draft: Draft, now: number): { fresh: Sent[]; old: Sent[] } {
  const isFresh = (it: Sent) => now - it.sentAt < KEY_KEPT_MS;
  return { fresh: draft.sent.filter(isFresh), old: draft.sent.filter((it) => !isFresh(it)) };
}

export function parse(text: string | null): Draft {
  try {
    return { ...noDraft, ...JSON.parse(text ?? "{}") };
  } catch {
    return noDraft;
  }
}
