import { expect, test } from "vitest";
import { backoffMs } from "./backoff";
import { Liveness } from "./liveness";

test("an unanswered probe of four seconds means a dead socket", () => {
  const liveness = new Liveness(0);
  liveness.pinged(1_000);
  expect(liveness.judge(4_999, 1_000)).toBe("wait");
  expect(liveness.judge(5_000, 1_000)).toBe("dead");
});

test("a socket that receives anything is alive", () => {
  const liveness = new Liveness(0);
  liveness.pinged(4_000);
  liveness.received(4_500);
  expect(liveness.judge(6_000, 1_000)).toBe("wait");
});

test("a quiet socket is asked every five seconds", () => {
  const liveness = new Liveness(0);
  expect(liveness.judge(0, null)).toBe("ping");
  liveness.pinged(0);
  expect(liveness.judge(4_999, null)).toBe("wait");
  expect(liveness.judge(5_000, null)).toBe("ping");
});

test("a doubted socket has to answer soon", () => {
  const liveness = new Liveness(0);
  liveness.pinged(0);
  liveness.doubt(1_000);
  expect(liveness.judge(1_000, null)).toBe("ping");
  expect(liveness.judge(1_800, null)).toBe("dead");
  liveness.received(1_900);
  liveness.pinged(1_900);
  expect(liveness.judge(2_000, null)).toBe("wait");
});

test("the delay doubles from 0.2 to 10 seconds and spreads", () => {
  expect([0, 1, 5, 6, 99].map((attempt) => backoffMs(attempt, 0))).toEqual([
    200, 400, 6_400, 10_000, 10_000,
  ]);
  expect(backoffMs(6, 1)).toBe(5_000);
});
