/** Puts the chosen theme and density on the root; without a theme the system decides. */
import { type Preferences, usePreferences } from "../lib/preferences";

export function applyTheme(): void {
  const apply = ({ theme, compact }: Preferences) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    document.documentElement.dataset.density = compact ? "compact" : "normal";
  };
  apply(usePreferences.getState());
  usePreferences.subscribe(apply);
}
