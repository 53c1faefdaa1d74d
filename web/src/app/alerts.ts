/** Shows and closes notifications as `state/alerts.ts` decides, while the page is open. */
import {
  closeNotification,
  followClicks,
  permission,
  showNotification,
} from "../lib/notifications";
import { usePreferences } from "../lib/preferences";
import { type AlertCommand, noAlerts, step } from "../state/alerts";
import { awaitPane, useAwaited } from "../state/awaited";
import { triageRows, useApp } from "../state/store";

export function followAlerts(): () => void {
  let alerts = noAlerts;
  let timer: number | undefined;
  const look = () => {
    window.clearTimeout(timer);
    const state = useApp.getState();
    if (!state.isLoaded) return;
    const isGranted = permission() === "granted";
    const { alerts: isOn, alertText: showsText } = usePreferences.getState();
    const now = Date.now();
    const result = step(alerts, {
      now,
      isWatched: !document.hidden && document.hasFocus(),
      isOn: isOn && isGranted,
      rows: triageRows(state),
      awaited: isGranted ? useAwaited.getState().instances : new Set(),
      showsText,
    });
    alerts = result.alerts;
    for (const command of result.commands) void run(command).catch(() => {});
    for (const instance of result.ended) awaitPane(instance, false);
    if (result.deadline !== null) timer = window.setTimeout(look, result.deadline - now);
  };
  const stop = [useApp.subscribe(look), usePreferences.subscribe(look), followClicks()];
  for (const event of ["focus", "blur"]) window.addEventListener(event, look);
  document.addEventListener("visibilitychange", look);
  return () => {
    window.clearTimeout(timer);
    for (const end of stop) end();
    for (const event of ["focus", "blur"]) window.removeEventListener(event, look);
    document.removeEventListener("visibilitychange", look);
  };
}

/** A notification that the browser refuses is only missing: the title and the icon still tell. */
function run(command: AlertCommand): Promise<void> {
  if (command.type === "close") return closeNotification(command.tag);
  const { tag, title, body, paneId } = command.alert;
  return showNotification(tag, title, body, paneId);
}
