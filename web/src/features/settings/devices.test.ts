import { expect, test } from "vitest";
import type { Grant } from "../../api/generated";
import { at } from "../../state/fixtures";
import { grantLines, isLoopback, scopeWords } from "./devices";

const now = Date.parse(at(10));
const grant = (id: string, fields: Partial<Grant> = {}): Grant => ({
  id,
  label: id,
  scopes: ["read"],
  panes: "all",
  createdAt: at(0),
  ...fields,
});

test("this device is first, then devices, tokens and panes", () => {
  const pane = { id: "fix", instance: "fix-1" };
  const grants = [
    grant("p", { pane }),
    grant("t"),
    grant("d1", { device: true }),
    grant("d2", { device: true, createdAt: at(5) }),
    grant("me", { device: true }),
  ];
  const lines = grantLines(grants, "me", now);
  expect(lines.map((line) => line.id)).toEqual(["me", "d2", "d1", "t", "p"]);
  expect(lines[0]?.isOwn).toBe(true);
  expect(grantLines([grant("x", { label: "", pane })], null, now)[0]?.name).toBe("Pane fix");
});

test("rights, panes and expiry are said in words", () => {
  const only = [{ id: "a", instance: "a-1" }];
  const [line] = grantLines([grant("d", { panes: { only }, expiresAt: at(70) })], null, now);
  expect(line?.facts).toBe("may read · 1 pane · expires in 1h");
  expect(grantLines([grant("d", { expiresAt: at(9) })], null, now)[0]).toMatchObject({
    isExpired: true,
    facts: "may read · all panes · expired",
  });
  expect(scopeWords(["admin", "read"])).toBe("may do everything");
  expect(scopeWords(["input", "read"])).toBe("may read, input");
});

test("addresses that only this machine can open are known", () => {
  for (const own of ["http://127.0.0.1:7263/", "http://localhost/", "http://[::1]:1/"])
    expect(isLoopback(own)).toBe(true);
  for (const other of ["https://box.tail.example/", "http://192.168.0.4:7263/", "nonsense"])
    expect(isLoopback(other)).toBe(false);
});
