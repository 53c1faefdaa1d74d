import { expect, test } from "vitest";
import type { AgentEvidence } from "../../api/generated";
import { agentOf, at } from "../../state/fixtures";
import { composerOf, type Explanation, fileName, sides, sureness, testCase } from "./evidence";

const reason = (says: AgentEvidence["says"], weight: number): AgentEvidence => ({
  source: "screen",
  says,
  weight,
  ageMs: 10,
  sentence: `${says} ${weight}`,
});
const explanation: Explanation = {
  agent: agentOf("busy"),
  reasons: [reason("ready", 0.3), reason("busy", 0.5), reason("busy", 0.9)],
  composer: { state: "draft", text: "go" },
  text: "",
};

test("evidence is for or against, strongest first", () => {
  const { supporting, against } = sides(explanation);
  expect(supporting.map((it) => it.weight)).toEqual([0.9, 0.5]);
  expect(against.map((it) => it.says)).toEqual(["ready"]);
});

test("under 70 % it is not sure", () => {
  expect(sureness(0.7)).toBe("70 % sure");
  expect(sureness(0.69)).toBe("not sure (69 %)");
});

test("the input line is a sentence", () => {
  expect(composerOf(explanation)).toBe("Its input line has a draft: “go”.");
});

test("a test case holds judgement, truth, evidence and recording", () => {
  const correction = {
    paneId: "ui",
    program: ["codex"],
    judged: "busy" as const,
    actual: "ready" as const,
    comment: "",
    at: at(0),
  };
  const recording = { cast: "{}", states: [], start: at(0), truncated: false };
  const saved = JSON.parse(testCase(correction, explanation, recording));
  expect(saved).toMatchObject({ judged: "busy", actual: "ready", explanation, recording });
  expect(fileName(correction)).toBe("paned-ui-busy-not-ready-2026-11-18T12-00-00-000Z.json");
});
