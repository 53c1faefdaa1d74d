/** Makes a one-use code for another device and shows it as a QR code. */
import { useEffect, useState } from "react";
import { sentence } from "../../lib/errors";
import { deviceLink } from "../../lib/sign-in";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { Button, Dialog } from "../../ui";
import { CodeCard } from "./code-card";
import { DeviceForm, type DeviceWish } from "./device-form";
import { PERIODS, ROLES } from "./devices";

const CODE_SECONDS = 180;

interface Made {
  code: string;
  expiresAt: number;
  /** The newest event when it was made. */
  since: number;
}

export function NewDevice({ onClose }: { onClose: () => void }) {
  const [wish, setWish] = useState<DeviceWish>(() => ({
    address: new URL(".", document.baseURI).href,
    label: "",
    role: ROLES[0]?.id ?? "",
    seconds: PERIODS[1]?.seconds ?? 0,
  }));
  const [made, setMade] = useState<Made | null>(null);
  const [error, setError] = useState<string | null>(null);
  const signedIn = useSignedIn(made?.since ?? null);
  const make = async () => {
    const scopes = ROLES.find(({ id }) => id === wish.role)?.scopes ?? [];
    try {
      const answer = await socket.call("grant:create-code", {
        scopes: [...scopes],
        label: wish.label,
        expiresInSeconds: wish.seconds,
        codeExpiresInSeconds: CODE_SECONDS,
      });
      const since = useApp.getState().events.last;
      setMade({ code: answer.code, expiresAt: Date.parse(answer.codeExpiresAt), since });
      setError(null);
    } catch (problem) {
      setError(sentence(problem));
    }
  };
  const isAddress = URL.canParse(wish.address);
  const actions = made ? (
    <Button tone="primary" onClick={onClose}>
      Done
    </Button>
  ) : (
    <Button tone="primary" disabled={!isAddress} onClick={() => void make()}>
      Make a code
    </Button>
  );
  return (
    <Dialog open onClose={onClose} title="Sign in another device" width={460} actions={actions}>
      {made ? (
        <CodeCard
          link={deviceLink(wish.address, made.code)}
          expiresAt={made.expiresAt}
          signedIn={signedIn}
          onAgain={() => void make()}
        />
      ) : (
        <DeviceForm
          wish={wish}
          onChange={(change) => setWish({ ...wish, ...change })}
          error={error}
        />
      )}
    </Dialog>
  );
}

/** The name of the device that has used a code since, once one has. */
function useSignedIn(since: number | null): string | null {
  const entries = useApp((state) => state.events.entries);
  const [name, setName] = useState<string | null>(null);
  useEffect(() => {
    if (since === null) return;
    for (const entry of entries) {
      if (entry.kind !== "event" || entry.event.id <= since) continue;
      if (entry.event.name === "grant:signed-in")
        setName(entry.event.payload.label || "The device");
    }
  }, [entries, since]);
  return name;
}
