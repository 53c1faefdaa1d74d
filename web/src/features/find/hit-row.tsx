/** One line that matches, with the lines around it and the ways to its place. */
import { History, ScrollText } from "lucide-react";
import { useMemo } from "react";
import { Link } from "wouter";
import type { PaneSearchHit } from "../../api/generated";
import { clock, moment } from "../../lib/format";
import { useMedia } from "../../lib/hooks";
import { patternQuery } from "../../lib/line-pattern";
import { excerpt, segments } from "../../lib/matches";
import { panePath } from "../../lib/route";
import { usePane } from "../../state/store";
import { Marked } from "../../ui";
import styles from "./find.module.css";
import type { FindQuery } from "./query";
import { AROUND, useContextLines } from "./use-context-lines";

const OFFSETS = Array.from({ length: 2 * AROUND + 1 }, (_, index) => index - AROUND);

export function HitRow({ hit, query }: { hit: PaneSearchHit; query: FindQuery }) {
  const instance = usePane(hit.paneId)?.instance ?? "";
  const lines = useContextLines(hit, instance);
  const isNarrow = useMedia("(max-width: 699px)");
  const texts = useMemo(() => new Map(lines.map((line) => [line.n, line.text])), [lines]);
  const line = panePath(hit.paneId, "history", { line: hit.n, ...patternQuery(query) });
  const shown = excerpt(hit.text, hit.matches, isNarrow ? 14 : 70);
  return (
    <article className={styles.hit} aria-label={`Line ${hit.n} of ${hit.paneId}`}>
      <header className={styles.hitHead}>
        <Link href={line} className={styles.line}>
          L{hit.n.toLocaleString("en-US")}
        </Link>
        <time dateTime={hit.time} title={moment(hit.time)}>
          {clock(hit.time)}
        </time>
        <span className={styles.ways}>
          <Link href={line} className={styles.way}>
            <ScrollText aria-hidden /> Open
          </Link>
          <Link href={panePath(hit.paneId, "replay", { at: hit.time })} className={styles.way}>
            <History aria-hidden /> At that moment
          </Link>
        </span>
      </header>
      <div className={styles.lines}>
        {OFFSETS.map((offset) =>
          offset === 0 ? (
            <pre key={offset} className={styles.match}>
              <Marked segments={segments(shown.text, shown.matches)} />
            </pre>
          ) : (
            <pre key={offset} className={styles.around}>
              {texts.get(hit.n + offset) || " "}
            </pre>
          ),
        )}
      </div>
    </article>
  );
}
