/**
 * One-use links: `#t=CODE` is exchanged for a token and erased from the address. With `&keep`, as
 * links for other devices have it, the token is kept on the device and not only in the tab.
 */
import { deviceName } from "./device-name";
import { CallError } from "./errors";
import { saveToken } from "./session";

const RETURN_KEY = "paned.return";

let keepsToken = false;

/** The link that signs in another device, which stays signed in. */
export function deviceLink(page: string, code: string): string {
  const url = new URL(page);
  url.hash = `t=${encodeURIComponent(code)}&keep`;
  return url.href;
}

const CODE = /^#\/?t=([^&]+)(&keep)?/;

/** Whether the address is that of a sign-in link. */
export function hasCode(): boolean {
  return CODE.test(location.hash);
}

/** The code in the address, which is erased from it and from the history. */
export function takeCode(): string | null {
  const match = CODE.exec(location.hash);
  if (!match?.[1]) return null;
  keepsToken = match[2] !== undefined;
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
  const body = JSON.stringify({ code, label: deviceName(navigator.userAgent) });
  const headers = { "content-type": "application/json" };
  const address = new URL("sign-in", document.baseURI);
  const answer = await fetch(address, { method: "POST", headers, body });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    throw new CallError(content.code ?? "unavailable", content.error ?? `status ${answer.status}`);
  }
  saveToken(content.token, keepsToken, content.id);
}
