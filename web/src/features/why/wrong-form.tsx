/** "This is wrong": saves the recording and the evidence as a test case, on this device. */
import { type FormEvent, useState } from "react";
import type { AgentState, PaneInfo } from "../../api/generated";
import { sentence } from "../../lib/errors";
import { socket } from "../../state/sync";
import { Button, controlClass, Field, Input } from "../../ui";
import { type Explanation, fileName, testCase } from "./evidence";
import { saveFile } from "./save-file";
import styles from "./why.module.css";

const STATES: readonly AgentState[] = [
  "ready",
  "busy",
  "blocked",
  "limited",
  "error",
  "starting",
  "exited",
];

export function WrongForm({ pane, explanation }: { pane: PaneInfo; explanation: Explanation }) {
  const [isOpen, setOpen] = useState(false);
  const [actual, setActual] = useState<AgentState | "other">("other");
  const [comment, setComment] = useState("");
  const [result, setResult] = useState<{ error: boolean; text: string } | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const judged = explanation.agent.state;
    const at = new Date().toISOString();
    const correction = { paneId: pane.id, program: pane.argv, judged, actual, comment, at };
    try {
      const recording = await socket.call("agent:record", { paneId: pane.id });
      saveFile(fileName(correction), testCase(correction, explanation, recording));
      setResult({ error: false, text: `Saved ${fileName(correction)}.` });
      setOpen(false);
    } catch (error) {
      setResult({ error: true, text: `Nothing was saved: ${sentence(error)}.` });
    }
  };
  const options = STATES.filter((state) => state !== explanation.agent.state);
  return (
    <section className={styles.wrong}>
      {result && (
        <p role="status" className={result.error ? styles.problem : styles.saved}>
          {result.text}
        </p>
      )}
      {!isOpen && <Button onClick={() => setOpen(true)}>This is wrong…</Button>}
      {isOpen && (
        <form className={styles.form} onSubmit={submit}>
          <p className={styles.meta}>
            Saves the last ten minutes of this pane with the evidence above, as a test case for its
            profile. Masked input stays masked; look through it before you give it away.
          </p>
          <Field label="What it really is">
            {(control) => (
              <select
                {...control}
                className={controlClass}
                value={actual}
                onChange={(event) => setActual(event.target.value as AgentState)}
              >
                <option value="other">something else</option>
                {options.map((state) => (
                  <option key={state}>{state}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="How you can tell (optional)">
            {(control) => (
              <Input
                {...control}
                value={comment}
                onChange={(event) => setComment(event.target.value)}
              />
            )}
          </Field>
          <div className={styles.buttons}>
            <Button type="submit" tone="primary">
              Save the test case
            </Button>
            <Button tone="quiet" onClick={() => setOpen(false)}>
              Cancel
            </Button>
          </div>
        </form>
      )}
    </section>
  );
}
