/** What is shown without a token: the code of a link is exchanged, or a token is pasted. */
import { type FormEvent, useEffect, useState } from "react";
import { hasCode, sentence } from "../../lib/errors";
import { saveToken } from "../../lib/session";
import { exchange } from "../../lib/sign-in";
import { socket } from "../../state/sync";
import { Button, Field, Input } from "../../ui";
import { CopyCommand } from "./copy-command";
import styles from "./sign-in.module.css";

type Step = { at: "exchanging" } | { at: "form"; problem: string | null; isUsedUp: boolean };

export interface SignInProps {
  code: string | null;
  /** The server refused the token that this tab had. */
  wasRefused: boolean;
}

/** A code is exchanged once, also when React mounts twice. */
let exchanged: string | null = null;

export function SignIn({ code, wasRefused }: SignInProps) {
  const hasFreshCode = code !== null && code !== exchanged;
  const [step, setStep] = useState<Step>(() =>
    hasFreshCode ? { at: "exchanging" } : { at: "form", problem: null, isUsedUp: false },
  );
  useEffect(() => {
    if (code === null || code === exchanged) return;
    exchanged = code;
    exchange(code).then(
      () => socket.connect(),
      (error) => {
        const isUsedUp = ["unauthorized", "gone", "not_found"].some((it) =>
          hasCode(error, it as "gone"),
        );
        setStep({ at: "form", problem: isUsedUp ? null : sentence(error), isUsedUp });
      },
    );
  }, [code]);
  if (step.at === "exchanging") return <p className="sr-only">Signing in…</p>;
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <h1 className={styles.title}>{titleOf(step.isUsedUp, wasRefused)}</h1>
        <p className={styles.text}>{textOf(step.isUsedUp, wasRefused)}</p>
        <CopyCommand command="paned web" />
        {step.problem && (
          <p className={styles.problem} role="alert">
            {step.problem}
          </p>
        )}
        <TokenForm />
      </div>
    </main>
  );
}

function titleOf(isUsedUp: boolean, wasRefused: boolean): string {
  if (isUsedUp) return "This link was already used, or is too old";
  return wasRefused ? "You are signed out" : "Sign in to paned";
}

function textOf(isUsedUp: boolean, wasRefused: boolean): string {
  if (isUsedUp) return "Each link works once, and for a few minutes. This command makes a new one:";
  if (wasRefused) return "The token of this tab has expired or was revoked. For a new link, run:";
  return "On the machine where paned runs, this command opens the page for you:";
}

function TokenForm() {
  const [value, setValue] = useState("");
  const [keep, setKeep] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saveToken(value.trim(), keep);
    socket.connect();
  };
  return (
    <details className={styles.details}>
      <summary>Use a token instead</summary>
      <form className={styles.form} onSubmit={submit}>
        <Field label="Token" hint="paned token create --scope admin --label browser">
          {(control) => (
            <Input
              {...control}
              type="password"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
          )}
        </Field>
        <label className={styles.keep}>
          <input
            type="checkbox"
            checked={keep}
            onChange={(event) => setKeep(event.target.checked)}
          />
          Keep it on this device
        </label>
        <Button type="submit" tone="primary" disabled={value.trim() === ""}>
          Sign in
        </Button>
      </form>
    </details>
  );
}
