/** The list of panes with what features add to it: requests without a pane, and the selection. */
import { lazy, Suspense, useState } from "react";
import type { PaneInfo } from "../api/generated";
import { AnswerButtons } from "../features/approve/answer-buttons";
import { AnswerKeys } from "../features/approve/answer-keys";
import { OtherRequests } from "../features/approve/other-requests";
import { SelectionBar } from "../features/manage/selection-bar";
import { TriageList } from "../features/triage";
import { NoPanes } from "../features/triage/empty";
import { navigate, panePath } from "../lib/route";
import styles from "./home.module.css";
import { PlacesMenu } from "./places-menu";

const BroadcastDialog = lazy(() => import("../features/compose/broadcast-dialog"));

export interface ListColumnProps {
  selected: string | null;
  isPhone: boolean;
  isWide: boolean;
}

export function ListColumn({ selected, isPhone, isWide }: ListColumnProps) {
  const [prompted, setPrompted] = useState<PaneInfo[] | null>(null);
  return (
    <div className={styles.column}>
      <AnswerKeys pane={selected} />
      <OtherRequests />
      <TriageList
        selected={selected}
        onOpen={(id) => navigate(panePath(id))}
        renderAnswers={(row) => <AnswerButtons row={row} />}
        menu={isWide || isPhone ? null : <PlacesMenu />}
        empty={isPhone ? <NoPanes /> : null}
      />
      <SelectionBar current={selected} onPrompt={setPrompted} />
      {prompted && (
        <Suspense fallback={null}>
          <BroadcastDialog panes={prompted} onClose={() => setPrompted(null)} />
        </Suspense>
      )}
    </div>
  );
}
