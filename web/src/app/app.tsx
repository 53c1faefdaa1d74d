/** The whole page: signed in or not, the shell around the routes, and what lies above all. */
import { useEffect } from "react";
import { Router } from "wouter";
import { SignIn } from "../features/sign-in";
import { useHashLocation, useHashSearch } from "../lib/route";
import { keepRoute } from "../lib/sign-in";
import { useApp } from "../state/store";
import { startSync } from "../state/sync";
import { LiveRegion, ToastLayer, TooltipLayer } from "../ui";
import { followAlerts } from "./alerts";
import { followAnnouncements } from "./announcements";
import { followAttention } from "./attention";
import { CreateSlot } from "./create-slot";
import { PaletteSlot } from "./palette-slot";
import { Shell } from "./shell";
import { useKeys } from "./use-keys";

export function App({ code }: { code: string | null }) {
  const connection = useApp((state) => state.connection);
  useEffect(() => {
    const stop = [startSync(), followAttention(), followAnnouncements(), followAlerts()];
    return () => {
      for (const end of stop) end();
    };
  }, []);
  useEffect(() => {
    if (connection.state === "signed-out") keepRoute();
  }, [connection.state]);
  useKeys();
  return (
    <Router hook={useHashLocation} searchHook={useHashSearch}>
      {connection.state === "signed-out" ? (
        <SignIn code={code} wasRefused={connection.refused ?? false} />
      ) : (
        <>
          <Shell />
          <PaletteSlot />
          <CreateSlot />
        </>
      )}
      <TooltipLayer />
      <ToastLayer />
      <LiveRegion />
    </Router>
  );
}
