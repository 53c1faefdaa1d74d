/** The controls below the timeline. */
import { Download, Pause, Play, SkipBack, SkipForward } from "lucide-react";
import { controlClass, cx, IconButton } from "../../ui";
import { type Clock, SPEEDS, type Speed } from "./clock";
import styles from "./replay.module.css";
import type { ReplayMoves } from "./use-replay-keys";

export interface TransportProps {
  clock: Clock;
  moves: ReplayMoves;
  onChange: (change: Partial<Clock>) => void;
  onDownload: () => void;
  isDownloading: boolean;
}

export function Transport({ clock, moves, onChange, onDownload, isDownloading }: TransportProps) {
  return (
    <div className={styles.transport}>
      <IconButton label="Previous mark" chord="Shift+ArrowLeft" onClick={() => moves.mark(-1)}>
        <SkipBack />
      </IconButton>
      <IconButton
        label={clock.isPlaying ? "Pause" : "Play"}
        chord=" "
        tone="plain"
        onClick={moves.toggle}
      >
        {clock.isPlaying ? <Pause /> : <Play />}
      </IconButton>
      <IconButton label="Next mark" chord="Shift+ArrowRight" onClick={() => moves.mark(1)}>
        <SkipForward />
      </IconButton>
      <select
        className={cx(controlClass, styles.speed)}
        aria-label="Speed"
        value={clock.speed}
        onChange={(event) => onChange({ speed: Number(event.target.value) as Speed })}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {speed}×
          </option>
        ))}
      </select>
      <label className={styles.skip}>
        <input
          type="checkbox"
          checked={clock.skipsIdle}
          onChange={(event) => onChange({ skipsIdle: event.target.checked })}
        />
        Skip idle
      </label>
      <span className={styles.space} />
      <IconButton label="Download as asciicast" disabled={isDownloading} onClick={onDownload}>
        <Download />
      </IconButton>
    </div>
  );
}
