/** Installing the page as an app of the device. */
import { useMedia } from "../../lib/hooks";
import { install, useInstallable } from "../../lib/install";
import { Button } from "../../ui";
import { Section } from "./section";
import styles from "./settings.module.css";

export function InstallSection() {
  const isInstallable = useInstallable();
  const isApp = useMedia("(display-mode: standalone)");
  return (
    <Section id="install" title="Install">
      <div className={styles.setting}>
        <div className={styles.words}>
          <span>As an app</span>
          <p className={styles.hint}>
            {isApp ? "This is the installed app." : hint(isInstallable)}
          </p>
        </div>
        {isInstallable && !isApp && <Button onClick={() => void install()}>Install</Button>}
      </div>
    </Section>
  );
}

function hint(isInstallable: boolean): string {
  const what =
    "A window and an icon of its own, and notifications on phones. Nothing is stored offline.";
  if (isInstallable) return what;
  return `${what} Use “Install” or “Add to Home Screen” in the menu of the browser.`;
}
