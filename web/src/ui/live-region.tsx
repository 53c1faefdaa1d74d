/** The one polite live region: what is announced is read once by screen readers. */
import { useEffect, useState } from "react";

type Listener = (text: string) => void;

let listener: Listener | null = null;

export function announce(text: string): void {
  listener?.(text);
}

export function LiveRegion() {
  const [text, setText] = useState("");
  useEffect(() => {
    listener = setText;
    return () => {
      listener = null;
    };
  }, []);
  return (
    <div className="sr-only" aria-live="polite" role="status">
      {text}
    </div>
  );
}
