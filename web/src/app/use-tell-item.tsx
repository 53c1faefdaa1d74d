/** The item of a pane's menu that asks for one notification when its work is done. */
import { BellRing } from "lucide-react";
import type { PaneInfo } from "../api/generated";
import { askPermission } from "../lib/notifications";
import { awaitPane, useAwaited } from "../state/awaited";
import { type MenuItem, toast } from "../ui";

export function useTellItem(pane: PaneInfo | null): MenuItem {
  const isAwaited = useAwaited((state) => pane !== null && state.instances.has(pane.instance));
  const isOver = pane?.status !== "running" && pane?.status !== "starting";
  return {
    label: "Tell me when done",
    icon: <BellRing />,
    checked: isAwaited,
    disabled: isOver,
    onSelect: () => pane && void change(pane, !isAwaited),
  };
}

async function change(pane: PaneInfo, isAwaited: boolean): Promise<void> {
  const granted = isAwaited ? await askPermission() : "granted";
  if (granted === "granted") {
    awaitPane(pane.instance, isAwaited);
    return;
  }
  const description =
    granted === "unsupported"
      ? "Browsers show them only for pages over https, or from this machine."
      : "Allow them in the browser's settings for this site.";
  toast({ title: "Notifications are not possible", description, tone: "danger" });
}
