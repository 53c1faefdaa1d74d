/** The field: Enter sends and Shift+Enter breaks the line; on phones Enter breaks it. */
import { type KeyboardEvent, type Ref, useLayoutEffect, useRef } from "react";
import { run } from "../../lib/commands";
import { controlClass, cx } from "../../ui";
import styles from "./compose.module.css";

export interface PromptFieldProps {
  label: string;
  text: string;
  isPhone: boolean;
  ref: Ref<HTMLTextAreaElement>;
  onChange: (text: string) => void;
  onSend: () => void;
}

export function PromptField({ label, text, isPhone, ref, onChange, onSend }: PromptFieldProps) {
  const own = useRef<HTMLTextAreaElement | null>(null);
  useHeight(own, text);
  const pressed = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // The Enter that ends a composition is not a key of ours.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape") {
      event.currentTarget.blur();
      run("focus-terminal");
    }
    const hasCommand = event.ctrlKey || event.metaKey;
    const sends = event.key === "Enter" && (isPhone ? hasCommand : !event.shiftKey);
    if (!sends) return;
    event.preventDefault();
    onSend();
  };
  return (
    <textarea
      ref={(element) => {
        own.current = element;
        if (typeof ref === "function") ref(element);
        else if (ref) ref.current = element;
      }}
      className={cx(controlClass, styles.field)}
      rows={1}
      aria-label={label}
      placeholder={`${label}…`}
      enterKeyHint={isPhone ? "enter" : "send"}
      value={text}
      onChange={(event) => onChange(event.target.value)}
      onKeyDown={pressed}
    />
  );
}

/** As high as its text; the style sheet sets the limit. */
function useHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when the text changes
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [field, text]);
}
