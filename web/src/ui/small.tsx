/** Small parts without state: chip, key, banner, empty state. */
import { Fragment, type ReactNode } from "react";
import { labels } from "../lib/keys";
import { cx } from "./class-names";
import styles from "./small.module.css";

/** A label such as a tag; a button when it can be pressed. */
export function Chip({ children, title, onClick, pressed }: ChipProps) {
  if (!onClick) {
    return (
      <span className={styles.chip} title={title}>
        {children}
      </span>
    );
  }
  return (
    <button
      type="button"
      className={cx(styles.chip, styles.pressable)}
      title={title}
      aria-pressed={pressed}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

export interface ChipProps {
  children: ReactNode;
  title?: string;
  onClick?: () => void;
  pressed?: boolean;
}

/** A chord as it is labelled on this system. */
export function Kbd({ chord }: { chord: string }) {
  return (
    <span className={styles.chord}>
      {labels(chord).map((label, index) => (
        <Fragment key={label}>
          {index > 0 && <span className="sr-only"> </span>}
          <kbd className={styles.key}>{label}</kbd>
        </Fragment>
      ))}
    </span>
  );
}

export interface BannerProps {
  tone?: "info" | "warning" | "danger";
  children: ReactNode;
  /** Buttons, at its end. */
  actions?: ReactNode;
}

/** A line above a part of the page that says what is wrong and what to do. */
export function Banner({ tone = "info", children, actions }: BannerProps) {
  return (
    <div className={cx(styles.banner, styles[tone])} role={tone === "danger" ? "alert" : "status"}>
      <div className={styles.bannerText}>{children}</div>
      {actions && <div className={styles.bannerActions}>{actions}</div>}
    </div>
  );
}

export interface EmptyStateProps {
  title: string;
  children?: ReactNode;
  actions?: ReactNode;
}

/** What stands where there is nothing: one sentence, and what to do. */
export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <p className={styles.emptyTitle}>{title}</p>
      {children && <div className={styles.emptyText}>{children}</div>}
      {actions && <div className={styles.emptyActions}>{actions}</div>}
    </div>
  );
}
