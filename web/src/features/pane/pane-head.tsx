/** The head of a pane: state, name, what runs where, its tabs and its menu. */
import {
  AArrowDown,
  AArrowUp,
  ChevronLeft,
  CircleDot,
  Copy,
  Ellipsis,
  History,
  Info,
  Lightbulb,
  Rewind,
  Search,
  SquareTerminal,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { run } from "../../lib/commands";
import { folder } from "../../lib/format";
import { prefer, usePreferences } from "../../lib/preferences";
import { navigate, type PaneTab, panePath } from "../../lib/route";
import { displayState } from "../../state/display";
import { unseen } from "../../state/unread-storage";
import { IconButton, Menu, type MenuGroups, type MenuItem, StateBadge } from "../../ui";
import { PaneDetails } from "./pane-details";
import styles from "./pane-head.module.css";

export interface PaneHeadProps {
  pane: PaneInfo;
  tab: PaneTab;
  isPhone: boolean;
  /** Groups of the menu from other features. */
  actions?: MenuGroups;
}

const TABS: readonly { tab: PaneTab; label: string; icon: ReactNode; forAgents?: true }[] = [
  { tab: "terminal", label: "Terminal", icon: <SquareTerminal /> },
  { tab: "history", label: "History", icon: <History /> },
  { tab: "replay", label: "Replay", icon: <Rewind /> },
  { tab: "why", label: "Why", icon: <Lightbulb />, forAgents: true },
];

export function PaneHead({ pane, tab, isPhone, actions = [] }: PaneHeadProps) {
  const [isDetailed, setDetailed] = useState(false);
  const state = displayState(pane);
  const tabs = TABS.filter(({ forAgents }) => !forAgents || pane.agent);
  const places = tabs.map(({ tab: to, label, icon }) => ({
    label,
    icon,
    checked: to === tab,
    onSelect: () => navigate(panePath(pane.id, to)),
  }));
  const own = useOwnItems(pane, tab, () => setDetailed(true));
  const groups = [isPhone ? places : [], ...own, ...actions];
  return (
    <header className={styles.head}>
      {isPhone && (
        <IconButton label="Back to the list" onClick={() => navigate("/")}>
          <ChevronLeft />
        </IconButton>
      )}
      <StateBadge shape={state.kind} word={state.word} />
      <h1 className={styles.name} title={pane.id}>
        {pane.id}
      </h1>
      {!isPhone && <Facts pane={pane} />}
      <span className={styles.space} />
      {!isPhone && (
        <nav className={styles.tabs} aria-label="Views of this pane">
          {tabs.map(({ tab: to, label }) => (
            <a
              key={to}
              className={styles.tab}
              href={`#${panePath(pane.id, to)}`}
              aria-current={to === tab ? "page" : undefined}
            >
              {label}
            </a>
          ))}
        </nav>
      )}
      <Menu
        groups={groups}
        trigger={(properties) => (
          <IconButton label="More" {...properties}>
            <Ellipsis />
          </IconButton>
        )}
      />
      {isDetailed && <PaneDetails pane={pane} onClose={() => setDetailed(false)} />}
    </header>
  );
}

function Facts({ pane }: { pane: PaneInfo }) {
  const context = pane.agent?.contextPercent;
  const program = pane.argv[0]?.split("/").at(-1);
  return (
    <span className={styles.facts}>
      <span>{pane.agent?.profile ?? program}</span>
      <span className={styles.folder} title={pane.cwd}>
        {folder(pane.cwd)}
      </span>
      {typeof context === "number" && <span title="Context used">{context}% context</span>}
    </span>
  );
}

function useOwnItems(pane: PaneInfo, tab: PaneTab, showDetails: () => void): MenuGroups {
  const { fontSize } = usePreferences();
  const zoom = (by: number) => prefer({ fontSize: Math.min(28, Math.max(8, fontSize + by)) });
  const find: MenuItem = {
    label: "Find in this pane",
    icon: <Search />,
    chord: "C+F",
    onSelect: () => run("find-in-pane"),
  };
  return [
    [
      ...(tab === "terminal" ? [find] : []),
      { label: "Larger text", icon: <AArrowUp />, onSelect: () => zoom(1) },
      { label: "Smaller text", icon: <AArrowDown />, onSelect: () => zoom(-1) },
    ],
    [
      { label: "Details", icon: <Info />, onSelect: showDetails },
      {
        label: "Copy the name",
        icon: <Copy />,
        onSelect: () => void navigator.clipboard?.writeText(pane.id),
      },
      {
        label: "Mark as unread",
        icon: <CircleDot />,
        onSelect: () => unseen(pane.instance),
      },
    ],
  ];
}
