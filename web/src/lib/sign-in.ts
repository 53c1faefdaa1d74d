/** One-use links: `#t=CODE` is exchanged for a token and erased from the address. */
import { CallError } from "./errors";
import { saveToken } from "./session";

const RETURN_KEY = "paned.return";

const CODE = /^#\/?t=([^&]+)/;

/** Whether the address is that of a sign-in link. */
export function hasCode(): boolean {
  return CODE.test(location.hash);
}

/** The code in the address, which is erased from it and from the history. */
export function takeCode(): string | null {
  const match = CODE.exec(location.hash);
  if (!match?.[1]) return null;
  const route = sessionStorage.getItem(RETURN_KEY) ?? "#/";
  history.replaceState(null, "", location.pathname + route);
  return decodeURIComponent(match[1]);
}

/** Remembers the route to return to after a new sign-in. */
export function keepRoute(): void {
  if (!hasCode()) sessionStorage.setItem(RETURN_KEY, location.hash || "#/");
}

/** Exchanges a code for a token; `gone` and `unauthorized` mean that it was used or expired. */
export async function exchange(code: string): Promise<void> {
  const body = JSON.stringify({ code });
  const headers = { "content-type": "application/json" };
  const address = new URL("sign-in", document.baseURI);
  const answer = await fetch(address, { method: "POST", headers, body });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new CallError(content.code ?? "unavailable", content.error ?? `status ${answer.status}`);
  }
  saveToken(content.token, false);
}
