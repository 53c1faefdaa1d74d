/** The rail of places at the left of wide windows. */
import { Link } from "wouter";
import { useNeedCount } from "../state/store";
import { cx } from "../ui";
import { chordOf } from "./keymap";
import { PLACES, type Place } from "./navigation";
import styles from "./rail.module.css";
import { type PageName, preload } from "./routes";

export function Rail({ current }: { current: PageName | null }) {
  const count = useNeedCount();
  const last = PLACES.length - 1;
  return (
    <nav className={styles.rail} aria-label="Places">
      {PLACES.map((place, index) => (
        <RailLink
          key={place.path}
          place={place}
          isCurrent={place.page === current}
          count={place.page === null ? count : 0}
          isLast={index === last}
        />
      ))}
    </nav>
  );
}

interface RailLinkProps {
  place: Place;
  isCurrent: boolean;
  count: number;
  isLast: boolean;
}

function RailLink({ place, isCurrent, count, isLast }: RailLinkProps) {
  const { icon: Icon, label, path, page, command } = place;
  const name = count > 0 ? `${label}, ${count} need you` : label;
  return (
    <Link
      href={path}
      className={cx(styles.link, isLast && styles.last)}
      aria-label={name}
      aria-current={isCurrent ? "page" : undefined}
      data-tip={label}
      data-chord={chordOf(command)}
      onPointerEnter={() => page && preload(page)}
      onFocus={() => page && preload(page)}
    >
      <Icon />
      {count > 0 && <span className={styles.count}>{count}</span>}
    </Link>
  );
}
