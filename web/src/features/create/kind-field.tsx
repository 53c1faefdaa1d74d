/** What is started: an agent by its profile, or a program. */
import type { ProfileSummary } from "../../api/generated";
import { controlClass, cx } from "../../ui";
import styles from "./create.module.css";
import type { Form } from "./form";

export interface KindFieldProps {
  form: Form;
  profiles: readonly ProfileSummary[];
  suggested: readonly string[];
  error: string | null;
  onChange: (change: Pick<Form, "kind" | "profile">) => void;
}

export function KindField({ form, profiles, suggested, error, onChange }: KindFieldProps) {
  const others = profiles.filter(({ name }) => !suggested.includes(name));
  const isOther = form.kind === "agent" && !suggested.includes(form.profile);
  return (
    <fieldset className={styles.kinds}>
      <legend className={styles.legend}>What to start</legend>
      <div className={styles.chips}>
        {suggested.map((name) => (
          <Choice
            key={name}
            label={name}
            isChosen={form.kind === "agent" && form.profile === name}
            onChoose={() => onChange({ kind: "agent", profile: name })}
          />
        ))}
        <Choice
          label="Program"
          isChosen={form.kind === "program"}
          onChoose={() => onChange({ kind: "program", profile: form.profile })}
        />
        {others.length > 0 && (
          <select
            aria-label="Other agents"
            className={cx(controlClass, styles.others, isOther && styles.chosen)}
            value={isOther ? form.profile : ""}
            onChange={(event) =>
              event.target.value && onChange({ kind: "agent", profile: event.target.value })
            }
          >
            <option value="">Other agents…</option>
            {others.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </div>
      {error && <p className={styles.error}>{error}</p>}
    </fieldset>
  );
}

interface ChoiceProps {
  label: string;
  isChosen: boolean;
  onChoose: () => void;
}

function Choice({ label, isChosen, onChoose }: ChoiceProps) {
  return (
    <label className={styles.choice}>
      <input type="radio" name="kind" className="sr-only" checked={isChosen} onChange={onChoose} />
      <span>{label}</span>
    </label>
  );
}
