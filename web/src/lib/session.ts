/** The token of this tab. It is in the tab's storage, or kept on this device if the user asked. */

const KEY = "paned.token";

export function token(): string | null {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
}

export function saveToken(value: string, keep: boolean): void {
  (keep ? localStorage : sessionStorage).setItem(KEY, value);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
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
