/** A pane that is looked at for a second is seen. */
import { useEffect } from "react";
import type { PaneInfo } from "../../api/generated";
import { useApp } from "../../state/store";
import { seen } from "../../state/unread-storage";

const LOOK_MS = 1_000;

/** Only while the tab is visible and has the focus. */
export function useSeen(pane: PaneInfo): void {
  const { instance } = pane;
  const isMarked = useApp((state) => instance in state.unread.marks);
  useEffect(() => {
    if (!isMarked) return;
    let timer: number | undefined;
    const look = () => {
      window.clearTimeout(timer);
      if (document.hidden || !document.hasFocus()) return;
      timer = window.setTimeout(() => seen(instance), LOOK_MS);
    };
    look();
    window.addEventListener("focus", look);
    window.addEventListener("blur", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("focus", look);
      window.removeEventListener("blur", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [instance, isMarked]);
}
