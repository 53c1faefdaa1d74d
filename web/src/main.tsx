/** Where the page begins: the code of a sign-in link is taken from the address before all else. */
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/app";
import { ErrorBoundary } from "./app/error-boundary";
import { applyTheme } from "./app/theme";
import { followInstallOffer } from "./lib/install";
import { followPreferences } from "./lib/preferences";
import { hasCode, takeCode } from "./lib/sign-in";
import "./ui/tokens.css";
import "./ui/fonts.css";
import "./ui/base.css";

const code = takeCode();
applyTheme();
followPreferences();
followInstallOffer();

// A link that is opened in a tab which shows the page already changes only the part after `#`.
window.addEventListener("hashchange", () => {
  if (hasCode()) location.reload();
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ErrorBoundary>
        <App code={code} />
      </ErrorBoundary>
    </StrictMode>,
  );
}
