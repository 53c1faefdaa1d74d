/** Saves what a pane has printed as an asciicast file. */
import { sentence } from "../../lib/errors";
import { socket } from "../../state/sync";
import { toast } from "../../ui";

export async function downloadCast(paneId: string): Promise<void> {
  try {
    const { cast, start, truncated } = await socket.call("pane:record", { paneId });
    const url = URL.createObjectURL(new Blob([cast], { type: "application/x-asciicast" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${paneId}-${start.slice(0, 19).replaceAll(":", "")}.cast`;
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
    const title = truncated ? "Saved what is still kept of it" : "Saved as asciicast";
    toast({ title, description: link.download });
  } catch (error) {
    toast({ title: "The recording failed", description: sentence(error), tone: "danger" });
  }
}
