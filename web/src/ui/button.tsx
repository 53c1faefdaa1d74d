/** A button with a text, and one with an icon alone. */
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import styles from "./button.module.css";
import { cx } from "./class-names";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `quiet` has no edge until it is hovered; `primary` is for one button of a group. */
  tone?: "plain" | "primary" | "danger" | "quiet";
  size?: "small" | "medium" | "large";
  icon?: ReactNode;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({
  tone = "plain",
  size = "medium",
  icon,
  children,
  className,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      className={cx(styles.button, styles[tone], styles[size], className)}
      {...rest}
    >
      {icon}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, "children" | "icon"> {
  /** The accessible name, which is also its tooltip. */
  label: string;
  /** The chord that does the same, for the tooltip. */
  chord?: string;
  children: ReactNode;
}

export function IconButton({ label, chord, children, className, tone, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      data-tip={label}
      data-chord={chord}
      className={cx(styles.button, styles[tone ?? "quiet"], styles.icon, className)}
      {...rest}
    >
      {children}
    </button>
  );
}
