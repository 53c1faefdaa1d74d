/** What is above the first and below the last row of the list. */
import { count } from "../../lib/format";
import { Button, cx } from "../../ui";
import styles from "./history.module.css";

/** What is above the first row: lines that are not kept, or more lines than one list can have. */
export function Head({
  dropped,
  hidden,
  onShow,
}: {
  dropped: number;
  hidden: number;
  onShow: () => void;
}) {
  if (hidden > 0) {
    return (
      <div className={styles.rule}>
        <Button size="small" onClick={onShow}>
          {count(hidden, "earlier line")}
        </Button>
      </div>
    );
  }
  if (dropped === 0) return null;
  return <div className={styles.rule}>{count(dropped, "line")} no longer kept</div>;
}

/** More lines than one list can have are below its last row. */
export function Foot({ hidden, onShow }: { hidden: number; onShow: () => void }) {
  if (hidden <= 0) return null;
  return (
    <div className={cx(styles.rule, styles.foot)}>
      <Button size="small" onClick={onShow}>
        {count(hidden, "later line")}
      </Button>
    </div>
  );
}
