/** The tabs at the bottom of phones: needs, panes, find, and a menu of the rest. */
import { Ellipsis } from "lucide-react";
import { Link } from "wouter";
import { navigate } from "../lib/route";
import { useNeedCount } from "../state/store";
import { Menu } from "../ui";
import { PLACES } from "./navigation";
import type { PageName } from "./routes";
import styles from "./tab-bar.module.css";

const DIRECT: readonly (PageName | null)[] = [null, "grid", "find"];

export function TabBar({ current }: { current: PageName | null }) {
  const count = useNeedCount();
  const tabs = PLACES.filter((place) => DIRECT.includes(place.page));
  const rest = PLACES.filter((place) => !DIRECT.includes(place.page));
  const items = rest.map(({ label, path, icon: Icon }) => ({
    label,
    icon: <Icon />,
    onSelect: () => navigate(path),
  }));
  return (
    <nav className={styles.bar} aria-label="Places">
      {tabs.map(({ path, page, label, icon: Icon }) => (
        <Link
          key={path}
          href={path}
          className={styles.tab}
          aria-current={page === current ? "page" : undefined}
        >
          <span className={styles.icon}>
            <Icon />
            {page === null && count > 0 && <span className={styles.count}>{count}</span>}
          </span>
          {label}
        </Link>
      ))}
      <Menu
        groups={[items]}
        trigger={(properties) => (
          <button
            type="button"
            className={styles.tab}
            aria-current={rest.some((place) => place.page === current) ? "page" : undefined}
            {...properties}
          >
            <span className={styles.icon}>
              <Ellipsis />
            </span>
            More
          </button>
        )}
      />
    </nav>
  );
}
