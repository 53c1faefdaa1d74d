/** A pane at any kept moment. */
import { useEffect, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useDelayed } from "../../lib/hooks";
import { usePreferences } from "../../lib/preferences";
import { navigate, panePath, useQuery } from "../../lib/route";
import { Banner, Button, EmptyState, ScreenRows } from "../../ui";
import { type Clock, seek, toggle } from "./clock";
import { downloadCast } from "./download";
import styles from "./replay.module.css";
import { Scrubber } from "./scrubber";
import { clamp, neighbourMark, type Timeline } from "./timeline";
import { dayAndClock } from "./times";
import { Transport } from "./transport";
import { useClock } from "./use-clock";
import { useFrame } from "./use-frame";
import { type ReplayMoves, useReplayKeys } from "./use-replay-keys";
import { useTimeline } from "./use-timeline";

/** A moment is put into the address when it has stayed for so long. */
const SETTLED_MS = 400;

export default function ReplayView({ pane }: { pane: PaneInfo; isPhone: boolean }) {
  const { timeline, isLoaded, error, reload } = useTimeline(pane);
  if (error && !timeline) {
    return (
      <EmptyState title="There is no replay" actions={<Button onClick={reload}>Try again</Button>}>
        <p>{error}</p>
      </EmptyState>
    );
  }
  if (!isLoaded) return <Waiting />;
  if (!timeline) return <EmptyState title="Nothing was printed yet" />;
  return <Player pane={pane} timeline={timeline} />;
}

function Waiting() {
  return useDelayed(200) ? <p className="sr-only">Loading…</p> : <div />;
}

function Player({ pane, timeline }: { pane: PaneInfo; timeline: Timeline }) {
  const begin = Date.parse(useQuery().get("at") ?? "");
  const [clock, setClock] = useClock(timeline, Number.isNaN(begin) ? null : begin);
  const at = Number.isNaN(clock.at) ? null : clamp(timeline, clock.at);
  const { frame, error } = useFrame(pane.id, at);
  const fontSize = usePreferences((state) => state.fontSize);
  const [isDownloading, setDownloading] = useState(false);
  useAddress(pane.id, clock);
  const moves = movesOf(timeline, clock, setClock);
  useReplayKeys(moves);
  const download = async () => {
    setDownloading(true);
    await downloadCast(pane.id);
    setDownloading(false);
  };
  const shown = frame?.at ?? at ?? timeline.end;
  return (
    <div className={styles.view}>
      <header className={styles.head}>
        <span className={styles.chip}>Past</span>
        <span className={styles.moment}>
          Screen at <time dateTime={new Date(shown).toISOString()}>{dayAndClock(shown)}</time>
        </span>
        <span className={styles.note}>
          {frame?.screen.at?.truncatedStart
            ? "Older output is no longer kept: what it drew may be missing"
            : "Keys are not sent"}
        </span>
        <Button size="small" onClick={() => navigate(panePath(pane.id))}>
          Live
        </Button>
      </header>
      {error && <Banner tone="warning">This moment cannot be shown: {error}</Banner>}
      <div className={styles.screen}>
        {frame && (
          <ScreenRows
            ansi={frame.screen.ansi ?? frame.screen.rows.join("\n")}
            cols={frame.screen.size.cols}
            rows={frame.screen.size.rows}
            cursor={frame.screen.cursor}
            label={`Screen of ${pane.id} at ${dayAndClock(shown)}`}
            fontSize={fontSize}
          />
        )}
      </div>
      <footer className={styles.foot}>
        <Scrubber
          timeline={timeline}
          at={at ?? timeline.end}
          onSeek={(to) => setClock((it) => seek(it, to, timeline))}
        />
        <Transport
          clock={clock}
          moves={moves}
          onChange={(change) => setClock((it) => ({ ...it, ...change }))}
          onDownload={download}
          isDownloading={isDownloading}
        />
      </footer>
    </div>
  );
}

function movesOf(
  timeline: Timeline,
  clock: Clock,
  set: (change: (clock: Clock) => Clock) => void,
): ReplayMoves {
  const to = (at: number) => set((it) => seek(it, at, timeline));
  return {
    toggle: () => set((it) => toggle(it, timeline)),
    move: (by) => to(clock.at + by),
    mark: (step) => to(neighbourMark(timeline, clock.at, step)),
    toStart: () => to(timeline.start),
    toEnd: () => to(timeline.end),
  };
}

/** The address names the moment once the clock stands, so that it can be shared and reloaded. */
function useAddress(paneId: string, { at, isPlaying }: Clock): void {
  useEffect(() => {
    if (isPlaying || Number.isNaN(at)) return;
    const path = panePath(paneId, "replay", { at: new Date(at).toISOString() });
    const timer = window.setTimeout(() => navigate(path, { replace: true }), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, [paneId, at, isPlaying]);
}
