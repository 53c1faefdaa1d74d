/** The keys 1 to 9 answer: the focused row of the list, else the open pane. */
import { useEffect } from "react";
import { handle } from "../../lib/commands";
import { pressNumber } from "./answer-store";

export function AnswerKeys({ pane }: { pane: string | null }) {
  useEffect(() => {
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const stop = numbers.map((number) =>
      handle(`answer-${number}`, () => {
        const row = document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset.row;
        const target = row ?? pane;
        if (target) pressNumber(target, number);
      }),
    );
    return () => {
      for (const end of stop) end();
    };
  }, [pane]);
  return null;
}
