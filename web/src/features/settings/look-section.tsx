/** Theme, size and density; single keys; the screen reader of the terminal. */
import { Minus, Plus } from "lucide-react";
import { useMedia } from "../../lib/hooks";
import { prefer, type Theme, usePreferences } from "../../lib/preferences";
import { controlClass, cx, IconButton } from "../../ui";
import { Section, Setting, Switch } from "./section";
import styles from "./settings.module.css";

const THEMES: readonly [Theme, string][] = [
  ["system", "As the system"],
  ["dark", "Dark"],
  ["light", "Light"],
];

const SMALLEST = 8;
const LARGEST = 28;

export function LookSection() {
  const { theme, fontSize, compact, screenReader } = usePreferences();
  const isCoarse = useMedia("(pointer: coarse)");
  const resize = (by: number) =>
    prefer({ fontSize: Math.min(LARGEST, Math.max(SMALLEST, fontSize + by)) });
  return (
    <Section id="look" title="Look">
      <Setting label="Theme">
        {(control) => (
          <select
            {...control}
            className={cx(controlClass, styles.select)}
            value={theme}
            onChange={(event) => prefer({ theme: event.target.value as Theme })}
          >
            {THEMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Setting>
      <Setting label="Text of terminals" hint="Where a terminal does not fit, its text is smaller.">
        {(control) => (
          <span className={styles.stepper}>
            <IconButton
              label="Smaller text"
              disabled={fontSize <= SMALLEST}
              onClick={() => resize(-1)}
            >
              <Minus />
            </IconButton>
            <output {...control}>{fontSize} px</output>
            <IconButton
              label="Larger text"
              disabled={fontSize >= LARGEST}
              onClick={() => resize(1)}
            >
              <Plus />
            </IconButton>
          </span>
        )}
      </Setting>
      {!isCoarse && (
        <Switch
          label="Compact list"
          hint="One line per pane, without its last output."
          checked={compact}
          onChange={(next) => prefer({ compact: next })}
        />
      )}
      <Switch
        label="Screen reader for terminals"
        hint="Terminals offer their text to screen readers. Costs time with much output."
        checked={screenReader}
        onChange={(next) => prefer({ screenReader: next })}
      />
    </Section>
  );
}
