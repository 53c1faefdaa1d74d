/** The head of pages in windows without a rail: a menu of the places, and where this is. */
import { PLACES } from "./navigation";
import { PlacesMenu } from "./places-menu";
import type { PageName } from "./routes";
import styles from "./shell.module.css";

export function TopBar({ page, isPhone }: { page: PageName; isPhone: boolean }) {
  const label = PLACES.find((place) => place.page === page)?.label;
  return (
    <header className={styles.topbar}>
      {!isPhone && <PlacesMenu />}
      <h1>{label}</h1>
    </header>
  );
}
