/** What was used last in the dialog, on this device. */

const KEY = "paned.recent";
const MOST = 12;

export interface Recent {
  folders: string[];
  profiles: string[];
}

export function recent(): Recent {
  try {
    return { folders: [], profiles: [], ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return { folders: [], profiles: [] };
  }
}

/** Puts a folder and a profile to the front. */
export function used(folder: string, profile: string | null): void {
  const before = recent();
  const folders = folder
    ? [folder, ...before.folders.filter((it) => it !== folder)]
    : before.folders;
  const profiles = profile
    ? [profile, ...before.profiles.filter((it) => it !== profile)]
    : before.profiles;
  const next = { folders: folders.slice(0, MOST), profiles: profiles.slice(0, MOST) };
  localStorage.setItem(KEY, JSON.stringify(next));
}
