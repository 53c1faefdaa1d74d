/** Which links open at once, and which ask first. Pure. */
import type { TerminalLink } from "./emulator";

/** The address if it may be opened at all: only the web. */
export function webAddress(link: TerminalLink): URL | null {
  try {
    const url = new URL(link.address);
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}

const HOST = /(?:https?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,})/i;

/** Whether the text of a link names another host than the one that it leads to. */
export function isMisleading(link: TerminalLink): boolean {
  const url = webAddress(link);
  const named = HOST.exec(link.label)?.[1]?.toLowerCase();
  if (!url || !named) return false;
  return url.hostname !== named && url.hostname !== `www.${named}`;
}
