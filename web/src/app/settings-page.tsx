/** The settings with the key map, which belongs to the application. */
import SettingsPage from "../features/settings";
import type { KeyLine } from "../features/settings/keys-section";
import { KEY_MAP } from "./keymap";

const PLACES = { anywhere: "Anywhere", outside: "Outside terminals and fields" };

/** Keys of single views, which handle them themselves. */
const VIEWS: readonly KeyLine[] = [
  { group: "Replay", label: "Play or pause", keys: [" "] },
  { group: "Replay", label: "Back five seconds", keys: ["ArrowLeft"] },
  { group: "Replay", label: "On five seconds", keys: ["ArrowRight"] },
  { group: "Replay", label: "Previous mark", keys: ["Shift+ArrowLeft"] },
  { group: "Replay", label: "Next mark", keys: ["Shift+ArrowRight"] },
  { group: "Replay", label: "Start", keys: ["Home"] },
  { group: "Replay", label: "End", keys: ["End"] },
];

const ANSWER = /^answer-[2-9]$/;

const KEYS: readonly KeyLine[] = [
  ...KEY_MAP.filter(({ command }) => !ANSWER.test(command)).map(
    ({ command, label, keys, place }) => ({
      group: PLACES[place as keyof typeof PLACES] ?? "Elsewhere",
      label: command === "answer-1" ? "Answer with option 1 to 9" : label,
      keys,
    }),
  ),
  ...VIEWS,
];

export default function SettingsRoute() {
  return <SettingsPage keys={KEYS} />;
}
