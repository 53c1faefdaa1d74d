/** The title and the icon of the tab say how many panes need the user. */
import { needing } from "../state/needs";
import { triageRows, useApp } from "../state/store";

const PLAIN = "./favicon.svg";
const MARKED = "./favicon-needs.svg";

export function followAttention(): () => void {
  let shown = -1;
  const show = (count: number) => {
    if (count === shown) return;
    shown = count;
    document.title = count > 0 ? `(${count}) paned` : "paned";
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon) icon.href = count > 0 ? MARKED : PLAIN;
  };
  return useApp.subscribe((state) => show(needing(triageRows(state)).length));
}
