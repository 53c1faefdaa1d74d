import { expect, test } from "vitest";
import { paneOf } from "../../state/fixtures";
import { noSelection, toggled } from "../../state/selection";
import { closed, isClean, isOver, killed, set, start, tagChange, targetsOf } from "./batch";

const panes = [paneOf("a"), paneOf("b", { status: "exited", exitCode: 0 }), paneOf("c")];
const ids = (list: readonly { id: string }[]) => list.map((pane) => pane.id).join(" ");

test("only living panes are killed, and only ended ones removed", () => {
  expect(ids(targetsOf("kill", panes).targets)).toBe("a c");
  expect(ids(targetsOf("kill", panes).others)).toBe("b");
  expect(ids(targetsOf("remove", panes).targets)).toBe("b");
  expect(ids(targetsOf("close", panes).targets)).toBe("a b c");
});

test("a kill says how it ended and what is left", () => {
  const clean = { id: "a", status: "killed" as const, exitSignal: "SIGTERM", survivors: [] };
  expect(killed(clean)).toEqual({ at: "done", text: "ended by SIGTERM", survivors: [] });
  expect(killed({ ...clean, exitSignal: null, exitCode: 3 })).toMatchObject({
    text: "exited with 3",
  });
  const survivors = [{ pid: 7, command: "node" }];
  const left = killed({ ...clean, survivors, restartCancelled: true });
  expect(left).toMatchObject({
    text: "ended by SIGTERM, but processes of it still run; it is not restarted",
    survivors,
  });
});

test("it is over when every pane has its result", () => {
  let outcomes = start(panes.slice(0, 2));
  expect(isOver(outcomes)).toBe(false);
  outcomes = set(outcomes, "a", closed({}));
  expect(isOver(outcomes)).toBe(false);
  outcomes = set(outcomes, "b", { at: "failed", text: "no" });
  expect([isOver(outcomes), isClean(outcomes)]).toEqual([true, false]);
});

test("tags are compared with what was there", () => {
  expect(tagChange(["web", "old"], "web, new  new")).toEqual({ add: ["new"], remove: ["old"] });
  expect(tagChange([], " , ")).toEqual({ add: [], remove: [] });
});

test("a pane is chosen and no longer", () => {
  const one = toggled(noSelection, "a");
  expect([one.isOn, [...one.ids]]).toEqual([true, ["a"]]);
  expect([...toggled(one, "a").ids]).toEqual([]);
});
