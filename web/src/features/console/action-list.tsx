/** The actions, with a search over their names and sentences. */
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import type { ActionInfo } from "../../lib/api";
import { useCommand } from "../../lib/commands";
import { navigate } from "../../lib/route";
import { Input } from "../../ui";
import styles from "./console.module.css";
import { group, search } from "./filter";

export const actionPath = (name: string) => `/console/${encodeURIComponent(name)}`;

export interface ActionListProps {
  actions: readonly ActionInfo[];
  current: string | null;
}

export function ActionList({ actions, current }: ActionListProps) {
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const found = search(actions, text);
  const step = (by: number) => {
    const at = found.findIndex((action) => action.name === current);
    const next = found[Math.min(found.length - 1, Math.max(0, at + by))];
    if (next) navigate(actionPath(next.name));
  };
  useCommand("filter", () => input.current?.focus());
  useCommand("row-next", () => step(1));
  useCommand("row-previous", () => step(-1));
  return (
    <nav className={styles.list} aria-label="Actions">
      <div className={styles.search}>
        <Search size={14} aria-hidden="true" />
        <Input
          ref={input}
          type="search"
          aria-label="Search actions"
          placeholder={`Search ${actions.length} actions`}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && found[0]) navigate(actionPath(found[0].name));
            if (event.key === "Escape") setText("");
          }}
        />
      </div>
      <div className={styles.groups}>
        {found.length === 0 && <p className={styles.none}>No action has “{text}”.</p>}
        {group(found).map(({ noun, actions: members }) => (
          <section key={noun} aria-label={noun}>
            <h2 className={styles.noun}>{noun}</h2>
            <ul>
              {members.map((action) => (
                <li key={action.name}>
                  <ActionRow action={action} isCurrent={action.name === current} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </nav>
  );
}

function ActionRow({ action, isCurrent }: { action: ActionInfo; isCurrent: boolean }) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  return (
    <Link
      href={actionPath(action.name)}
      className={styles.row}
      aria-current={isCurrent ? "page" : undefined}
      ref={link}
    >
      <span className={styles.actionName}>{action.name}</span>
      <span className={styles.rowDoc}>{action.doc}</span>
    </Link>
  );
}
