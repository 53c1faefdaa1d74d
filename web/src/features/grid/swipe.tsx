/** The grid on a phone: one tile at a time, the next by a swipe. Tiles beside are not followed. */
import { type UIEvent, useCallback, useRef, useState } from "react";
import { navigate, panePath } from "../../lib/route";
import styles from "./grid.module.css";
import { LastAnswer } from "./last-answer";
import { Tile } from "./tile";
import type { TileDrag } from "./use-drag";
import type { GridState } from "./use-grid";

const NO_DRAG: TileDrag = { attach: () => () => {} };

export function Swipe({ grid }: { grid: GridState }) {
  const { ids, isCompare, set } = grid;
  const box = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const scrolled = ({ currentTarget }: UIEvent<HTMLElement>) =>
    setAt(Math.round(currentTarget.scrollLeft / Math.max(1, currentTarget.clientWidth)));
  const open = useCallback((id: string) => navigate(panePath(id)), []);
  const close = useCallback(
    (id: string) => set({ ids: ids.filter((other) => other !== id) }),
    [ids, set],
  );
  const move = useCallback(
    (id: string, by: number) => {
      const rest = ids.filter((other) => other !== id);
      set({ ids: rest.toSpliced(Math.max(0, ids.indexOf(id) + by), 0, id) });
    },
    [ids, set],
  );
  const show = (index: number) =>
    box.current?.scrollTo({ left: index * box.current.clientWidth, behavior: "smooth" });
  return (
    <div className={styles.phone}>
      <div ref={box} className={styles.strip} onScroll={scrolled}>
        {ids.map((id, index) => (
          <Tile
            key={id}
            id={id}
            isFocused={index === at}
            isZoomed={false}
            isWhole={false}
            opens
            drag={NO_DRAG}
            onFocus={nothing}
            onZoom={open}
            onClose={close}
            onMove={move}
          >
            {isCompare && <LastAnswer id={id} />}
          </Tile>
        ))}
      </div>
      <nav className={styles.dots} aria-label="Tiles">
        {ids.map((id, index) => (
          <button
            key={id}
            type="button"
            className={styles.dot}
            aria-label={id}
            aria-current={index === at ? "true" : undefined}
            onClick={() => show(index)}
          />
        ))}
      </nav>
    </div>
  );
}

function nothing(): void {}
