/** One action: what it does, its form, and its last answer. */
import { ChevronLeft, Play, Square } from "lucide-react";
import { type KeyboardEvent, useMemo, useState } from "react";
import type { ActionInfo } from "../../lib/api";
import { useNow } from "../../lib/hooks";
import { navigate, useQuery } from "../../lib/route";
import { displayState } from "../../state/display";
import { useApp, useTriageRows } from "../../state/store";
import { Button, Chip, CopyButton, IconButton, prose } from "../../ui";
import {
  type AnySchema,
  type Problems,
  problemsOf,
  problemsOfRefusal,
  SchemaForm,
  shapeOf,
  startOfObject,
} from "../../ui/schema-form";
import { curlLine, panedLine } from "./command-lines";
import styles from "./console.module.css";
import { isAllowed } from "./filter";
import { Result } from "./result";
import { forgetRun, type Run, run, setValue, useRuns } from "./runs";

export interface ActionViewProps {
  action: ActionInfo;
  isPhone: boolean;
}

const NO_PROBLEMS: Problems = {};

export function ActionView({ action, isPhone }: ActionViewProps) {
  const { name } = action;
  const query = useQuery();
  const shape = useMemo(() => shapeOf(action.params as AnySchema), [action]);
  const start = useMemo(
    () =>
      shape.kind === "object" ? { ...startOfObject(shape), ...Object.fromEntries(query) } : {},
    [shape, query],
  );
  const value = useRuns((state) => state.values[name]) ?? start;
  const last = useRuns((state) => state.runs[name]) ?? null;
  const [checked, setChecked] = useState(false);
  const own = problemsOf(value);
  const refused = last?.state === "refused" ? problemsOfRefusal(last.error, shape) : NO_PROBLEMS;
  // A refusal without a field is below, where answers are.
  const { "": _, ...fields } = checked ? { ...refused, ...own } : refused;
  const panes = usePaneOptions();
  const submit = () => {
    setChecked(true);
    if (Object.keys(own).length === 0) void run(name, value);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  };
  return (
    <section className={styles.action} aria-label={name}>
      <Head action={action} isPhone={isPhone} />
      <form
        className={styles.body}
        onKeyDown={pressed}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <SchemaForm
          shape={shape}
          value={value}
          onChange={(next) => {
            setValue(name, next);
            if (last?.state === "refused") forgetRun(name);
          }}
          errors={fields}
          panes={panes}
        />
        {shape.kind === "object" && shape.fields.length === 0 && (
          <p className={styles.none}>It takes no parameters.</p>
        )}
      </form>
      <div className={styles.bar}>
        <RunButton action={action} last={last} onRun={submit} />
        <span className={styles.spring} />
        <CopyButton text={() => curlLine(location.origin, name, value)}>curl</CopyButton>
        <CopyButton text={() => panedLine(name, value as Record<string, unknown>, shape)}>
          paned
        </CopyButton>
      </div>
      <Result run={last} />
    </section>
  );
}

function Head({ action, isPhone }: ActionViewProps) {
  const connection = useApp((state) => state.connection);
  const scopes = connection.state === "open" ? connection.scopes : null;
  return (
    <header className={styles.head}>
      <div className={styles.titleLine}>
        {isPhone && (
          <IconButton label="All actions" onClick={() => navigate("/console")}>
            <ChevronLeft />
          </IconButton>
        )}
        <h2 className={styles.title}>{action.name}</h2>
        <Chip title="The scope that a token needs">{action.scope}</Chip>
      </div>
      <p className={styles.doc}>{prose(action.doc)}</p>
      {scopes && !isAllowed(action, scopes) && (
        <p className={styles.lacks}>Your token does not have the scope {action.scope}.</p>
      )}
    </header>
  );
}

/** What ends programs wears the colour of danger. */
const DANGEROUS = /^(pane|agent|session|server|shell):(kill|close|remove|prune|stop|cleanup)$/;

interface RunButtonProps {
  action: ActionInfo;
  last: Run | null;
  onRun: () => void;
}

function RunButton({ action, last, onRun }: RunButtonProps) {
  const isOpen = useApp((state) => state.connection.state === "open");
  const now = useNow();
  if (last?.state === "running") {
    const seconds = Math.max(0, Math.floor((now - last.startedAt) / 1000));
    return (
      <>
        <Button icon={<Square size={14} />} onClick={() => last.abort.abort()}>
          Cancel
        </Button>
        {seconds > 0 && <span className={styles.took}>{seconds} s</span>}
      </>
    );
  }
  const isDangerous = DANGEROUS.test(action.name);
  return (
    <Button
      tone={isDangerous ? "danger" : "primary"}
      icon={<Play size={14} />}
      disabled={!isOpen}
      data-tip="Run"
      data-chord="Ctrl+Enter"
      onClick={onRun}
    >
      Run
    </Button>
  );
}

function usePaneOptions() {
  const rows = useTriageRows();
  return useMemo(
    () => rows.map(({ pane }) => ({ id: pane.id, note: displayState(pane).word })),
    [rows],
  );
}
