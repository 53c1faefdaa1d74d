/** A button that copies a text, and says that it did. */
import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Button, type ButtonProps } from "./button";
import { announce } from "./live-region";

const SHOWN_MS = 1_500;

export interface CopyButtonProps extends Omit<ButtonProps, "onClick" | "icon"> {
  text: string | (() => string);
  children: ReactNode;
}

export function CopyButton({ text, children, ...rest }: CopyButtonProps) {
  const [note, setNote] = useState<"copied" | "failed" | null>(null);
  useEffect(() => {
    if (note === null) return;
    const timer = window.setTimeout(() => setNote(null), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [note]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setNote("copied");
      announce("Copied");
    } catch {
      setNote("failed");
      announce("The browser did not allow to copy");
    }
  };
  return (
    <Button
      size="small"
      icon={note === "copied" ? <Check size={14} /> : <Copy size={14} />}
      onClick={copy}
      {...rest}
    >
      {note === "failed" ? "Not allowed" : children}
    </Button>
  );
}
