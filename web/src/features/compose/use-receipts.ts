/** The receipts of a pane, newest first; asks for missing ones when the connection is back. */
import { useEffect, useMemo } from "react";
import { useApp } from "../../state/store";
import { announce } from "../../ui";
import { resume, settleIfFinal, type Target } from "./draft-store";
import { wordOf } from "./receipt-words";

const MOST = 5;

export function useReceipts({ paneId, instance }: Target) {
  const all = useApp((state) => state.receipts);
  const isOpen = useApp((state) => state.connection.state === "open");
  useEffect(() => {
    if (isOpen) resume({ paneId, instance });
  }, [isOpen, paneId, instance]);
  const receipts = useMemo(
    () =>
      [...all.values()]
        .filter((it) => it.paneId === paneId)
        .reverse()
        .slice(0, MOST),
    [all, paneId],
  );
  useEffect(() => {
    for (const { key } of receipts) settleIfFinal(instance, key);
  }, [receipts, instance]);
  const latest = receipts[0] ?? null;
  const word = latest && latest.state !== "sending" ? wordOf(latest) : null;
  useEffect(() => {
    if (word) announce(`Prompt to ${paneId}: ${word}`);
  }, [word, paneId]);
  return { receipts, latest };
}
