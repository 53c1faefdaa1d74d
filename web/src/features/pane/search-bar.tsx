/** Find in the terminal: what the emulator holds; the rest is in the history. */
import { ArrowDown, ArrowUp, CaseSensitive, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { IconButton, Input } from "../../ui";
import type { Emulator, SearchResult } from "./emulator";
import styles from "./pane.module.css";

export interface SearchBarProps {
  emulator: Emulator;
  result: SearchResult | null;
  onClose: () => void;
}

export function SearchBar({ emulator, result, onClose }: SearchBarProps) {
  const [text, setText] = useState("");
  const [caseSensitive, setCase] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (text) void emulator.search(text, "previous", { caseSensitive, incremental: true });
    else emulator.endSearch();
  }, [text, caseSensitive, emulator]);
  useEffect(() => () => emulator.endSearch(), [emulator]);
  const step = (direction: "next" | "previous") =>
    text && void emulator.search(text, direction, { caseSensitive });
  return (
    <search className={styles.search}>
      <Input
        ref={input}
        aria-label="Find in this terminal"
        placeholder="Find"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose();
          if (event.key === "Enter") step(event.shiftKey ? "next" : "previous");
        }}
      />
      <span className={styles.found} role="status">
        {text && result ? found(result) : ""}
      </span>
      <IconButton
        label="Match case"
        aria-pressed={caseSensitive}
        onClick={() => setCase(!caseSensitive)}
      >
        <CaseSensitive />
      </IconButton>
      <IconButton label="Previous match" chord="Enter" onClick={() => step("previous")}>
        <ArrowUp />
      </IconButton>
      <IconButton label="Next match" chord="Shift+Enter" onClick={() => step("next")}>
        <ArrowDown />
      </IconButton>
      <IconButton label="Close" chord="Escape" onClick={onClose}>
        <X />
      </IconButton>
    </search>
  );
}

function found({ index, count }: SearchResult): string {
  if (count === 0) return "none";
  return index < 0 ? `${count}` : `${index + 1} of ${count}`;
}
