/** The fields that only agents have: prompt, worktree and permissions. */
import { controlClass, cx, Field, Input } from "../../ui";
import styles from "./create.module.css";
import type { Form } from "./form";
import { PermissionsField } from "./permissions-field";

export interface AgentFieldsProps {
  form: Form;
  errorAt: (name: string) => string | null;
  onChange: (change: Partial<Form>) => void;
  onSubmit: () => void;
}

export function AgentFields({ form, errorAt, onChange, onSubmit }: AgentFieldsProps) {
  return (
    <>
      <Field label="Prompt" hint="Sent when it is ready" error={errorAt("prompt")}>
        {(control) => (
          <textarea
            {...control}
            rows={4}
            className={cx(controlClass, styles.prompt)}
            value={form.prompt}
            onChange={(event) => onChange({ prompt: event.target.value })}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              onSubmit();
            }}
          />
        )}
      </Field>
      <PermissionsField
        value={form.permissions}
        error={errorAt("permissions")}
        onChange={(permissions) => onChange({ permissions })}
      />
      <div className={styles.worktree}>
        <label className={styles.check}>
          <input
            type="checkbox"
            checked={form.worktree}
            onChange={(event) => onChange({ worktree: event.target.checked })}
          />
          <span>In a git worktree of its own</span>
        </label>
        {form.worktree && (
          <Field label="Branch" hint="A new name when empty" error={errorAt("worktree")}>
            {(control) => (
              <Input
                {...control}
                value={form.branch}
                onChange={(event) => onChange({ branch: event.target.value })}
              />
            )}
          </Field>
        )}
        {!form.worktree && errorAt("worktree") && (
          <p className={styles.error}>{errorAt("worktree")}</p>
        )}
      </div>
    </>
  );
}
