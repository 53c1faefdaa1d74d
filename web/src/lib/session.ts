/** The token of this tab. It is in the tab's storage, or kept on this device if the user asked. */

const KEY = "paned.token";
const GRANT_KEY = "paned.grant";

export function token(): string | null {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
}

/** Keeps a token, with the id by which `grant:list` shows it if that is known. */
export function saveToken(value: string, keep: boolean, grant?: string): void {
  const storage = keep ? localStorage : sessionStorage;
  // The tab's token is looked at first, so it must not hide the one that is kept.
  if (keep) forgetIn(sessionStorage);
  storage.removeItem(GRANT_KEY);
  storage.setItem(KEY, value);
  if (grant) storage.setItem(GRANT_KEY, grant);
}

/** The id of this device's grant, if it signed in by a code. */
export function ownGrant(): string | null {
  const storage = sessionStorage.getItem(KEY) ? sessionStorage : localStorage;
  return storage.getItem(GRANT_KEY);
}

function forgetIn(storage: Storage): void {
  storage.removeItem(KEY);
  storage.removeItem(GRANT_KEY);
}

export function forgetToken(): void {
  forgetIn(sessionStorage);
  forgetIn(localStorage);
}

/** Whether the server refuses the token; false when there is no answer. */
export async function isRefused(): Promise<boolean> {
  const value = token();
  if (!value) return true;
  try {
    const headers = { authorization: `Bearer ${value}` };
    const answer = await fetch(new URL("health", document.baseURI), { headers });
    return answer.status === 401;
  } catch {
    return false;
  }
}
