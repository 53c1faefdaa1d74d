/** The screen of a pane while its tile can be seen. */
import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { hasCode, sentence } from "../../lib/errors";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { type Screen, ScreenWatch, type WatchPort } from "./screen-watch";

const port: WatchPort = {
  open: (pane, reader, options) => socket.open(pane, reader, options),
  read: (paneId) => socket.call("pane:screen", { paneId, format: "ansi" }),
};

export interface ScreenState {
  screen: Screen | null;
  problem: string | null;
}

const NOTHING: ScreenState = { screen: null, problem: null };

/** Watches the pane of this instance while `isVisible`; the last screen stays meanwhile. */
export function useScreen(id: string, instance: string | null, isVisible: boolean): ScreenState {
  const [state, setState] = useState<ScreenState>(NOTHING);
  const watch = useRef<ScreenWatch | null>(null);
  const size = useApp((app) => app.panes.get(id)?.size);
  const shape = size ? `${size.cols}x${size.rows}` : "";
  // biome-ignore lint/correctness/useExhaustiveDependencies: another instance is another screen
  useEffect(() => setState(NOTHING), [id, instance]);
  useEffect(() => {
    if (!isVisible || instance === null) return;
    const current = new ScreenWatch(port, id, {
      screen: (screen) => setState({ screen, problem: null }),
      failed: (error) => {
        const problem = hasCode(error, "gone") ? "This pane has ended." : sentence(error);
        setState((before) => ({ ...before, problem }));
      },
    });
    watch.current = current;
    return () => {
      watch.current = null;
      current.close();
    };
  }, [id, instance, isVisible]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another size is another picture
  useEffect(() => watch.current?.refresh(), [shape]);
  return state;
}

/** Whether an element is on the screen of a tab that is shown. */
export function useVisible(element: RefObject<Element | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry) setNear(entry.isIntersecting);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  const isShown = useSyncExternalStore(listen, () => !document.hidden);
  return isNear && isShown;
}

function listen(changed: () => void): () => void {
  document.addEventListener("visibilitychange", changed);
  return () => document.removeEventListener("visibilitychange", changed);
}
