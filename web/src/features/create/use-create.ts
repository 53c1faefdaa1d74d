/** Sends the form, and puts a refusal at the field that it names. */
import { useState } from "react";
import { sentence } from "../../lib/errors";
import { navigate, panePath } from "../../lib/route";
import { put } from "../../state/panes";
import * as receipts from "../../state/receipts";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { type Problems, problemsOfRefusal, type Shape } from "../../ui/schema-form";
import { type Form, requestOf } from "./form";
import { used } from "./recent";

export function useCreate(shape: Shape | null, onDone: () => void) {
  const [problems, setProblems] = useState<Problems>({});
  const [isSending, setSending] = useState(false);
  const create = async (form: Form) => {
    setSending(true);
    setProblems({});
    try {
      const id = await send(form);
      used(form.cwd.trim(), form.kind === "agent" ? form.profile : null);
      onDone();
      navigate(panePath(id));
    } catch (error) {
      const found = shape ? problemsOfRefusal(error, shape) : { "": sentence(error) };
      setProblems(found);
    } finally {
      setSending(false);
    }
  };
  return { problems, isSending, create };
}

async function send(form: Form): Promise<string> {
  const request = requestOf(form);
  if (request.name === "pane:new") {
    const pane = await socket.call("pane:new", request.params);
    useApp.setState((state) => ({ panes: put(state.panes, pane) }));
    return pane.id;
  }
  const { prompt, ...pane } = await socket.call("agent:create", request.params);
  useApp.setState((state) => ({
    panes: put(state.panes, pane),
    receipts: withPrompt(state.receipts, pane.id, form.prompt, prompt),
  }));
  return pane.id;
}

/** The first prompt has a receipt like any other. */
function withPrompt(
  before: receipts.Receipts,
  paneId: string,
  text: string,
  answer: Parameters<typeof receipts.answered>[2] | null | undefined,
): receipts.Receipts {
  if (!answer?.messageId) return before;
  const key = `first-${answer.messageId}`;
  const draft = { key, paneId, text, sentAt: Date.now() };
  return receipts.answered(receipts.sent(before, draft), key, answer);
}
