/** Chooses one pane or all of them. */
import { useTriageRows } from "../../state/store";
import { controlClass, cx } from "../../ui";
import styles from "./find.module.css";
import { isLiving } from "./query";

export interface PaneSelectProps {
  value: string;
  onChange: (pane: string) => void;
}

export function PaneSelect({ value, onChange }: PaneSelectProps) {
  const panes = useTriageRows()
    .map((row) => row.pane)
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const living = panes.filter(isLiving);
  const ended = panes.filter((pane) => !isLiving(pane));
  const isKnown = value === "" || panes.some((pane) => pane.id === value);
  const options = (list: typeof panes) =>
    list.map(({ id }) => (
      <option key={id} value={id}>
        {id}
      </option>
    ));
  return (
    <select
      className={cx(controlClass, styles.select)}
      aria-label="Pane"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">All panes</option>
      {!isKnown && <option value={value}>{value}</option>}
      {living.length > 0 && <optgroup label="Running">{options(living)}</optgroup>}
      {ended.length > 0 && <optgroup label="Ended">{options(ended)}</optgroup>}
    </select>
  );
}
