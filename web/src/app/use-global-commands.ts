/** The commands that work on every route. */

import { useEffect } from "react";
import { handle } from "../lib/commands";
import { navigate, paneOf, panePath, withQuery } from "../lib/route";
import { nextNeeding } from "../state/needs";
import { triageRows, useApp } from "../state/store";
import { toast } from "../ui";
import { PLACES } from "./navigation";

export function useGlobalCommands(): void {
  useEffect(() => {
    const stop = PLACES.map(({ command, path }) => handle(command, () => navigate(path)));
    stop.push(handle("next-need", openNextNeeding));
    stop.push(handle("help", () => navigate(withQuery("/settings", { s: "keys" }))));
    return () => {
      for (const end of stop) end();
    };
  }, []);
}

function openNextNeeding(): void {
  const current = paneOf(location.hash.slice(1))?.id ?? null;
  const next = nextNeeding(triageRows(useApp.getState()), current);
  if (next) navigate(panePath(next));
  else toast({ title: "Nothing needs you" });
}
