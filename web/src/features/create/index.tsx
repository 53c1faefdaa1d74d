/** The dialog for a new agent or a new pane. */
import { useState } from "react";
import { useScope } from "../../state/scopes";
import { useApp } from "../../state/store";
import { useAnswer } from "../../state/use-answer";
import { Banner, Button, Dialog, Field, Input } from "../../ui";
import { AgentFields } from "./agent-fields";
import styles from "./create.module.css";
import { FolderField } from "./folder-field";
import { emptyForm, type Form, recentFolders, suggestedProfiles } from "./form";
import { KindField } from "./kind-field";
import { isShown, MoreFields, useShape } from "./more-fields";
import { recent } from "./recent";
import { useCreate } from "./use-create";
import { isForShell } from "./words";

/** What was filled in when the dialog was closed without a start. */
let kept: Form | null = null;

export interface CreateDialogProps {
  /** The folder to begin with: that of the open pane. */
  folder?: string | null;
  onClose: () => void;
}

export default function CreateDialog({ folder, onClose }: CreateDialogProps) {
  const panes = useApp((state) => state.panes);
  const mayStart = useScope("spawn");
  const [last] = useState(recent);
  const { answer } = useAnswer("agent:profiles", {});
  const profiles = answer?.profiles ?? [];
  const suggested = suggestedProfiles(profiles, last.profiles, panes.values());
  const folders = recentFolders(last.folders, panes.values());
  const [changed, setForm] = useState(kept);
  const form = changed ?? emptyForm(suggested[0] ?? "", folder ?? folders[0] ?? "");
  const change = (fields: Partial<Form>) => {
    kept = { ...form, ...fields };
    setForm(kept);
  };
  const shape = useShape(form.kind === "agent" ? "agent:create" : "pane:new");
  const { problems, isSending, create } = useCreate(shape, () => {
    kept = null;
    onClose();
  });
  const errorAt = (name: string) =>
    Object.entries(problems).find(([path]) => path.split(/[.[]/)[0] === name)?.[1] ?? null;
  const submit = () => void create(form);
  const isAuto = form.kind === "agent" && form.permissions === "auto";
  const canStart = mayStart && !isSending && (form.kind === "program" || form.profile !== "");
  const actions = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button tone={isAuto ? "danger" : "primary"} disabled={!canStart} onClick={submit}>
        {isSending ? "Starting…" : isAuto ? "Start without questions" : "Start"}
      </Button>
    </>
  );
  const title = form.kind === "agent" ? "New agent" : "New pane";
  return (
    <Dialog open onClose={onClose} title={title} width={640} actions={actions}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (canStart) submit();
        }}
      >
        {!mayStart && <Banner tone="warning">The token of this device cannot start panes.</Banner>}
        {problems[""] && <Banner tone="danger">{problems[""]}</Banner>}
        <KindField
          form={form}
          profiles={profiles}
          suggested={suggested}
          error={errorAt("profile")}
          onChange={(kind) => change({ ...kind, more: {} })}
        />
        {form.kind === "program" && (
          <CommandField form={form} error={errorAt("argv")} onChange={change} />
        )}
        <FolderField
          value={form.cwd}
          folders={folders}
          error={errorAt("cwd")}
          onChange={(cwd) => change({ cwd })}
        />
        {form.kind === "agent" && (
          <AgentFields form={form} errorAt={errorAt} onChange={change} onSubmit={submit} />
        )}
        <Field label="Name" hint="Generated when empty" error={errorAt("id")}>
          {(control) => (
            <Input
              {...control}
              value={form.id}
              onChange={(event) => change({ id: event.target.value })}
            />
          )}
        </Field>
        {shape && (
          <MoreFields
            key={form.kind}
            shape={shape}
            kind={form.kind}
            value={form.more}
            errors={Object.fromEntries(
              Object.entries(problems).filter(([path]) => path && !isShown(form.kind, path)),
            )}
            onChange={(more) => change({ more })}
          />
        )}
        <button type="submit" hidden disabled={!canStart} />
      </form>
    </Dialog>
  );
}

interface CommandFieldProps {
  form: Form;
  error: string | null;
  onChange: (change: Partial<Form>) => void;
}

function CommandField({ form, error, onChange }: CommandFieldProps) {
  const hint = isForShell(form.command) ? "Run by sh -c" : "Your login shell when empty";
  return (
    <Field label="Command" hint={hint} error={error}>
      {(control) => (
        <Input
          {...control}
          className={styles.command}
          placeholder="npm test"
          value={form.command}
          onChange={(event) => onChange({ command: event.target.value })}
        />
      )}
    </Field>
  );
}
