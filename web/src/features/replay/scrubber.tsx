/** The timeline to drag on: how much was printed when, and the marks. */
import { type PointerEvent, useMemo, useRef, useState } from "react";
import { bytes } from "../../lib/format";
import { MarkIcon } from "./mark-icon";
import styles from "./replay.module.css";
import { clamp, fraction, heights, type Mark, markBefore, rateAt, type Timeline } from "./timeline";
import { clockTenths, dayAndClock } from "./times";

export interface ScrubberProps {
  timeline: Timeline;
  at: number;
  onSeek: (at: number) => void;
}

/** Marks nearer than this share of the width are drawn once. */
const APART = 0.006;

export function Scrubber({ timeline, at, onSeek }: ScrubberProps) {
  const track = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<number | null>(null);
  const columns = useMemo(() => heights(timeline), [timeline]);
  const marks = useMemo(() => spread(timeline), [timeline]);
  const timeAt = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    const share = box ? (event.clientX - box.left) / box.width : 0;
    return clamp(timeline, timeline.start + share * (timeline.end - timeline.start));
  };
  const moved = (event: PointerEvent) => {
    setHover(timeAt(event));
    if (event.buttons & 1 && event.currentTarget.hasPointerCapture(event.pointerId))
      onSeek(timeAt(event));
  };
  const place = (time: number) => `${fraction(timeline, time) * 100}%`;
  return (
    <div
      ref={track}
      role="slider"
      tabIndex={0}
      aria-label="Moment"
      aria-valuemin={0}
      aria-valuemax={Math.round((timeline.end - timeline.start) / 100)}
      aria-valuenow={Math.round((at - timeline.start) / 100)}
      aria-valuetext={spoken(timeline, at)}
      className={styles.scrubber}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        onSeek(timeAt(event));
      }}
      onPointerMove={moved}
      onPointerLeave={() => setHover(null)}
    >
      <svg
        className={styles.rate}
        viewBox={`0 0 ${columns.length} 1`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path d={bars(columns)} />
      </svg>
      <div className={styles.marks}>
        {marks.map((mark) => (
          <span
            key={`${mark.at} ${mark.kind}`}
            className={styles.mark}
            style={{ left: place(mark.at) }}
          >
            <MarkIcon kind={mark.kind} />
          </span>
        ))}
      </div>
      <div className={styles.past} style={{ width: place(at) }} />
      <div className={styles.needle} style={{ left: place(at) }} />
      {hover !== null && (
        <div
          className={styles.hover}
          style={{ left: `clamp(min(160px, 50%), ${place(hover)}, 100% - min(160px, 50%))` }}
        >
          {told(timeline, hover)}
        </div>
      )}
    </div>
  );
}

function bars(columns: readonly number[]): string {
  return columns.map((height, x) => (height > 0 ? `M${x} 1v${-height}h1v${height}z` : "")).join("");
}

/** The marks without those that would cover another. */
function spread(timeline: Timeline): Mark[] {
  const shown: Mark[] = [];
  const last = new Map<string, number>();
  for (const mark of timeline.marks) {
    const place = fraction(timeline, mark.at);
    const before = last.get(mark.kind);
    if (before !== undefined && place - before < APART) continue;
    last.set(mark.kind, place);
    shown.push(mark);
  }
  return shown;
}

function told(timeline: Timeline, at: number) {
  const mark = markBefore(timeline, at);
  const rate = rateAt(timeline, at);
  return (
    <>
      <b>{clockTenths(at)}</b>
      <span>{rate > 0 ? `${bytes(Math.round(rate))}/s` : "silent"}</span>
      {mark && (
        <span className={styles.hoverMark}>
          <MarkIcon kind={mark.kind} />
          <span>{mark.label}</span>
        </span>
      )}
    </>
  );
}

function spoken(timeline: Timeline, at: number): string {
  const mark = markBefore(timeline, at);
  const since = mark ? `, after ${mark.label}` : "";
  return `${dayAndClock(at)}${since}`;
}
