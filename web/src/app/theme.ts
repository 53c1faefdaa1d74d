/** Puts the chosen theme on the root; without a choice the system decides. */
import { usePreferences } from "../lib/preferences";

export function applyTheme(): void {
  const apply = ({ theme }: { theme: string }) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  apply(usePreferences.getState());
  usePreferences.subscribe(apply);
}
