/** All keys of the page. */
import { prefer, usePreferences } from "../../lib/preferences";
import { Kbd } from "../../ui";
import { Section, Switch } from "./section";
import styles from "./settings.module.css";

export interface KeyLine {
  label: string;
  /** One chord, or two keys one after the other. */
  keys: readonly string[];
  group: string;
}

export function KeysSection({ keys }: { keys: readonly KeyLine[] }) {
  const singleKeys = usePreferences((state) => state.singleKeys);
  const groups = grouped(keys);
  return (
    <Section id="keys" title="Keys">
      <Switch
        label="Single keys"
        hint="Letters and digits are commands outside terminals and fields."
        checked={singleKeys}
        onChange={(next) => prefer({ singleKeys: next })}
      />
      {[...groups].map(([group, lines]) => (
        <div key={group} className={styles.keys}>
          <h3>{group}</h3>
          <dl>
            {lines.map((line) => (
              <div key={`${line.label} ${line.keys.join(" ")}`}>
                <dt>{line.label}</dt>
                <dd>
                  {line.keys.map((chord, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: the same key can come twice
                    <Kbd key={index} chord={chord} />
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </Section>
  );
}

function grouped(keys: readonly KeyLine[]): Map<string, KeyLine[]> {
  const groups = new Map<string, KeyLine[]>();
  for (const line of keys) groups.set(line.group, [...(groups.get(line.group) ?? []), line]);
  return groups;
}
