/** The head of the list: filter, grouping, and the button for a new pane. */
import { ListTree, Plus } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { run, useCommand } from "../../lib/commands";
import { useMedia } from "../../lib/hooks";
import { type Grouping, prefer, usePreferences } from "../../lib/preferences";
import { Button, IconButton, Input, Menu } from "../../ui";
import styles from "./triage.module.css";

export interface ListHeadProps {
  filter: string;
  onFilter: (filter: string) => void;
  menu: ReactNode;
}

const GROUPINGS: readonly { grouping: Grouping; label: string }[] = [
  { grouping: "need", label: "Group by need" },
  { grouping: "tag", label: "Group by tag" },
  { grouping: "session", label: "Group by session" },
];

export function ListHead({ filter, onFilter, menu }: ListHeadProps) {
  const grouping = usePreferences((state) => state.grouping);
  const isCoarse = useMedia("(pointer: coarse)");
  const input = useRef<HTMLInputElement>(null);
  useCommand("filter", () => input.current?.select());
  const items = GROUPINGS.map(({ grouping: value, label }) => ({
    label,
    checked: value === grouping,
    onSelect: () => prefer({ grouping: value }),
  }));
  return (
    <header className={styles.head}>
      {menu}
      <Input
        ref={input}
        type="search"
        aria-label="Filter panes"
        placeholder={isCoarse ? "Filter" : "Filter  /"}
        value={filter}
        onChange={(event) => onFilter(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          onFilter("");
          event.currentTarget.blur();
        }}
      />
      <Menu
        groups={[items]}
        trigger={(properties) => (
          <IconButton label="Grouping" {...properties}>
            <ListTree />
          </IconButton>
        )}
      />
      <Button icon={<Plus size={16} />} onClick={() => run("new")}>
        New
      </Button>
    </header>
  );
}
