/** Whether the agent asks before it acts. Acting without asking wears the danger colour. */
import styles from "./create.module.css";
import type { Form } from "./form";

export interface PermissionsFieldProps {
  value: Form["permissions"];
  error: string | null;
  onChange: (value: Form["permissions"]) => void;
}

const OPTIONS = [
  { value: "ask" as const, label: "Asks", help: "before it runs commands or changes files" },
  { value: "auto" as const, label: "Auto", help: "acts without asking" },
];

export function PermissionsField({ value, error, onChange }: PermissionsFieldProps) {
  return (
    <fieldset className={styles.permissions}>
      <legend className={styles.legend}>Permissions</legend>
      <div className={styles.radios}>
        {OPTIONS.map((option) => (
          <label key={option.value} className={styles.radio} data-danger={option.value === "auto"}>
            <input
              type="radio"
              name="permissions"
              checked={value === option.value}
              onChange={() => onChange(option.value)}
            />
            <span>
              <strong>{option.label}</strong> {option.help}
            </span>
          </label>
        ))}
      </div>
      {error && <p className={styles.error}>{error}</p>}
    </fieldset>
  );
}
