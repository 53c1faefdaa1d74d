/** The theme that is shown: the chosen one, or that of the system. */
import { useMedia } from "./hooks";
import { usePreferences } from "./preferences";

export function useTheme(): "dark" | "light" {
  const chosen = usePreferences((state) => state.theme);
  const isLight = useMedia("(prefers-color-scheme: light)");
  if (chosen !== "system") return chosen;
  return isLight ? "light" : "dark";
}
