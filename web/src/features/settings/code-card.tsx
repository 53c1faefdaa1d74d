/** A sign-in link as QR code and text, for as long as it is good. */
import { Check } from "lucide-react";
import { useMemo, useState } from "react";
import { useNow } from "../../lib/hooks";
import { qrMatrix, qrPath } from "../../lib/qr";
import { Button } from "../../ui";
import styles from "./settings.module.css";

export interface CodeCardProps {
  link: string;
  expiresAt: number;
  /** The name of the device that has used it. */
  signedIn: string | null;
  onAgain: () => void;
}

export function CodeCard({ link, expiresAt, signedIn, onAgain }: CodeCardProps) {
  const now = useNow();
  const [isCopied, setCopied] = useState(false);
  const left = Math.ceil((expiresAt - now) / 1000);
  const copy = () =>
    navigator.clipboard?.writeText(link).then(
      () => setCopied(true),
      () => {},
    );
  if (signedIn) {
    return (
      <div className={styles.code}>
        <Check className={styles.done} aria-hidden />
        <p role="status">{signedIn} is signed in.</p>
      </div>
    );
  }
  if (left <= 0) {
    return (
      <div className={styles.code}>
        <p role="status">This code has expired.</p>
        <Button onClick={onAgain}>Make another</Button>
      </div>
    );
  }
  return (
    <div className={styles.code}>
      <Qr text={link} />
      <p>
        Scan it with the camera. It works once, for{" "}
        {left > 90 ? `${Math.ceil(left / 60)} minutes` : `${left} s`}.
      </p>
      <div className={styles.copy}>
        <code>{link}</code>
        <Button size="small" onClick={() => void copy()}>
          {isCopied ? "Copied" : "Copy"}
        </Button>
      </div>
    </div>
  );
}

const QUIET = 4;

/** Always dark on light, with the quiet zone that scanners need. */
function Qr({ text }: { text: string }) {
  const matrix = useMemo(() => qrMatrix(text), [text]);
  if (!matrix) return <p>The address is too long for a QR code.</p>;
  const side = matrix.length + 2 * QUIET;
  return (
    <svg
      className={styles.qr}
      viewBox={`${-QUIET} ${-QUIET} ${side} ${side}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label="QR code of the sign-in link"
    >
      <rect x={-QUIET} y={-QUIET} width={side} height={side} fill="#fff" />
      <path d={qrPath(matrix)} fill="#000" />
    </svg>
  );
}
