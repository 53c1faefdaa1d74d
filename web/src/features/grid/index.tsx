/** Watch 2 to 16 panes at once, and compare what agents answer to the same prompt. */
import { Columns2, LayoutGrid, Scan } from "lucide-react";
import { useEffect, useState } from "react";
import { useMedia } from "../../lib/hooks";
import { useApp } from "../../state/store";
import { Button, EmptyState, IconButton } from "../../ui";
import { CompareBar } from "./compare-bar";
import styles from "./grid.module.css";
import { PickDialog } from "./pick-dialog";
import { Swipe } from "./swipe";
import { Tiles } from "./tiles";
import { type GridState, useGrid, usualIds } from "./use-grid";

export default function GridPage() {
  const grid = useGrid();
  const isPhone = useMedia("(max-width: 699px)");
  const isLoaded = useApp((state) => state.isLoaded);
  const [isPicking, setPicking] = useState(false);
  const [wasFilled, setFilled] = useState(false);
  const isEmpty = grid.ids.length === 0;
  useEffect(() => {
    if (!isLoaded || wasFilled) return;
    setFilled(true);
    const usual = isEmpty ? usualIds() : [];
    if (usual.length > 0) grid.set({ ids: usual });
  }, [isLoaded, wasFilled, isEmpty, grid]);
  return (
    <section className={styles.grid} aria-label="Grid">
      {!isEmpty && <Toolbar grid={grid} isPhone={isPhone} onPick={() => setPicking(true)} />}
      {isEmpty && wasFilled && <NoTiles onPick={() => setPicking(true)} />}
      {!isEmpty && (isPhone ? <Swipe grid={grid} /> : <Tiles grid={grid} />)}
      {!isEmpty && grid.isCompare && <CompareBar ids={grid.ids} />}
      {isPicking && (
        <PickDialog
          ids={grid.ids}
          onChange={(ids) => grid.set({ ids })}
          onClose={() => setPicking(false)}
        />
      )}
    </section>
  );
}

interface ToolbarProps {
  grid: GridState;
  isPhone: boolean;
  onPick: () => void;
}

function Toolbar({ grid, isPhone, onPick }: ToolbarProps) {
  const { ids, isCompare, isWhole, set } = grid;
  return (
    <div className={styles.toolbar}>
      <Button size="small" icon={<LayoutGrid size={14} />} onClick={onPick}>
        {ids.length === 1 ? "1 pane" : `${ids.length} panes`}
      </Button>
      <span className={styles.spring} />
      <Button
        size="small"
        tone="quiet"
        icon={<Columns2 size={14} />}
        aria-pressed={isCompare}
        onClick={() => set({ isCompare: !isCompare })}
      >
        Compare
      </Button>
      {!isPhone && (
        <IconButton
          label="Whole screens"
          aria-pressed={isWhole}
          onClick={() => set({ isWhole: !isWhole })}
        >
          <Scan />
        </IconButton>
      )}
    </div>
  );
}

function NoTiles({ onPick }: { onPick: () => void }) {
  const count = useApp((state) => state.panes.size);
  if (count === 0) {
    return (
      <EmptyState title="There are no panes to watch">
        <p>
          Start one with <code>paned new -- top</code>, and it can be shown here.
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No panes are chosen"
      actions={
        <Button tone="primary" onClick={onPick}>
          Choose panes
        </Button>
      }
    />
  );
}
