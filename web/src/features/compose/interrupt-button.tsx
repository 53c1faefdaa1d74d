/** Interrupts the turn of a busy agent, and says whether it has stopped. */
import { CircleStop } from "lucide-react";
import { useState } from "react";
import { sentence } from "../../lib/errors";
import { socket } from "../../state/sync";
import { IconButton, toast } from "../../ui";

export function InterruptButton({ paneId }: { paneId: string }) {
  const [isBusy, setBusy] = useState(false);
  const interrupt = async () => {
    setBusy(true);
    try {
      const { interrupted, evidence } = await socket.call("agent:interrupt", { paneId });
      const title = interrupted ? `${paneId} was interrupted` : `${paneId} was not interrupted`;
      toast({ title, description: evidence.join("; "), tone: interrupted ? "plain" : "danger" });
    } catch (error) {
      toast({ title: `${paneId}: ${sentence(error)}`, tone: "danger" });
    } finally {
      setBusy(false);
    }
  };
  return (
    <IconButton label="Interrupt the turn" disabled={isBusy} onClick={interrupt}>
      <CircleStop />
    </IconButton>
  );
}
