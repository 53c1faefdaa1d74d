import { expect, test } from "vitest";
import { agentOf, eventOf } from "./fixtures";
import { answered, applyEvent, cancelled, failed, isFinal, noReceipts, sent } from "./receipts";

const draft = { key: "k", paneId: "ui", text: "go", sentAt: 1 };
const queued = {
  outcome: "queued" as const,
  messageId: "m1",
  evidence: ["busy"],
  position: 2,
  agent: agentOf("busy"),
};

test("a queued message becomes submitted by its event", () => {
  const receipts = answered(sent(noReceipts, draft), "k", queued);
  expect(receipts.get("k")).toMatchObject({ state: "queued", position: 2 });
  const delivered = eventOf(7, "agent:delivered", "ui", {
    messageId: "m1",
    outcome: "submitted",
    evidence: ["seen"],
  });
  expect(applyEvent(receipts, delivered).get("k")).toMatchObject({
    state: "submitted",
    position: null,
    evidence: ["seen"],
  });
});

test("an event of another message changes nothing", () => {
  const receipts = answered(sent(noReceipts, draft), "k", queued);
  const other = eventOf(7, "agent:delivered", "ui", { messageId: "m2", outcome: "submitted" });
  expect(applyEvent(receipts, other)).toBe(receipts);
});

test("a refused request keeps its sentence", () => {
  const receipts = failed(sent(noReceipts, draft), "k", "no pane `ui`");
  expect(receipts.get("k")).toMatchObject({ state: "failed", error: "no pane `ui`" });
});

test("a cancelled message stays cancelled when it ends as refused", () => {
  const receipts = cancelled(answered(sent(noReceipts, draft), "k", queued), "k");
  const ended = eventOf(7, "agent:delivered", "ui", { messageId: "m1", outcome: "refused" });
  expect(applyEvent(receipts, ended).get("k")?.state).toBe("cancelled");
});

test("queued and held messages are not final", () => {
  const states = [
    "sending",
    "queued",
    "held",
    "submitted",
    "drafted",
    "refused",
    "unknown",
  ] as const;
  expect(states.filter(isFinal)).toEqual(["submitted", "drafted", "refused", "unknown"]);
});
