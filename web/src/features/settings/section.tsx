/** A section of the settings, and one setting in it. */
import { type ReactNode, useId } from "react";
import styles from "./settings.module.css";

export interface SectionProps {
  id: string;
  title: string;
  /** A button at its head. */
  action?: ReactNode;
  children: ReactNode;
}

export function Section({ id, title, action, children }: SectionProps) {
  return (
    <section id={`s-${id}`} className={styles.section} aria-labelledby={`h-${id}`}>
      <header className={styles.sectionHead}>
        <h2 id={`h-${id}`}>{title}</h2>
        {action}
      </header>
      <div className={styles.card}>{children}</div>
    </section>
  );
}

export interface SettingProps {
  label: string;
  hint?: ReactNode;
  children: (control: { id: string; "aria-describedby"?: string }) => ReactNode;
}

export function Setting({ label, hint, children }: SettingProps) {
  const id = useId();
  return (
    <div className={styles.setting}>
      <div className={styles.words}>
        <label htmlFor={id}>{label}</label>
        {hint && (
          <p id={`${id}-hint`} className={styles.hint}>
            {hint}
          </p>
        )}
      </div>
      {children({ id, ...(hint ? { "aria-describedby": `${id}-hint` } : {}) })}
    </div>
  );
}

export interface SwitchProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

export function Switch({ label, hint, checked, disabled, onChange }: SwitchProps) {
  return (
    <Setting label={label} hint={hint}>
      {(control) => (
        <input
          {...control}
          type="checkbox"
          role="switch"
          className={styles.switch}
          checked={checked}
          aria-checked={checked}
          disabled={disabled}
          onChange={(event) => onChange(event.target.checked)}
        />
      )}
    </Setting>
  );
}
