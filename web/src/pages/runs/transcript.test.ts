// A run's events put together: in one go, one by one, and gone on with after a break.

import { expect, test } from "vitest";
import { type Block, type CallBlock, EMPTY, isCallOpen, isWaiting, outcomeOf, type RunEvent, told } from "./transcript";

let next = 0;
const tell = (event: string, data: Record<string, unknown> = {}): RunEvent => {
  next += 1;
  return { id: String(next), event, data };
};

const EVENTS = [
  tell("plan", { tools: ["calculator"] }),
  tell("text_delta", { text: "Let me " }),
  tell("text_delta", { text: "see." }),
  tell("tool_call", { call_id: "a", tool: "calculator", arguments: { expression: "1+1" } }),
  tell("tool_started", { call_id: "a", tool: "calculator", arguments: { expression: "1+1" } }),
  tell("tool_result", {
    call_id: "a",
    tool: "calculator",
    text: "2",
    is_error: false,
    elapsed: 0.01,
    execution_id: "x",
  }),
  tell("text_delta", { text: "half a thou" }),
  tell("text_reset"),
  tell("text_delta", { text: "It is 2." }),
  tell("done", { status: "done", output: "It is 2.", usage: { input_tokens: 3, output_tokens: 4 }, cost: 0.5 }),
];

const kinds = (blocks: Block[]) => blocks.map((block) => block.kind);

test("texts, calls and the end stand in their order, and no text twice", () => {
  const { blocks, isOver, lastEvent } = told(EMPTY, EVENTS);
  expect(kinds(blocks)).toEqual(["plan", "text", "call", "text", "end"]);
  expect(blocks[1]).toMatchObject({ text: "Let me see.", isDone: true });
  expect(blocks[2]).toMatchObject({ state: "done", text: "2", executionId: "x", elapsed: 0.01 });
  expect(blocks[3]).toMatchObject({ text: "It is 2.", isDone: true });
  expect(blocks[4]).toMatchObject({ status: "done", cost: 0.5 });
  expect([isOver, lastEvent]).toEqual([true, EVENTS.at(-1)!.id]);
});

test("the same however the events are bundled", () => {
  const whole = told(EMPTY, EVENTS);
  for (let at = 0; at <= EVENTS.length; at += 1) {
    expect(told(told(EMPTY, EVENTS.slice(0, at)), EVENTS.slice(at))).toEqual(whole);
  }
});

test("an output that was never written as text is shown", () => {
  const { blocks } = told(EMPTY, [
    tell("error", { status: "failed", output: "so far", code: "max_steps", message: "enough" }),
  ]);
  expect(kinds(blocks)).toEqual(["text", "end"]);
  expect(blocks[1]).toMatchObject({ code: "max_steps", message: "enough" });
});

test("what is asked waits until it is answered", () => {
  const asked = told(EMPTY, [
    tell("tool_call", { call_id: "q", tool: "request_human_input", arguments: {} }),
    tell("needs_input", { request_id: "r", kind: "question", question: "Which?", schema: { type: "string" } }),
  ]);
  expect(kinds(asked.blocks)).toEqual(["ask"]);
  expect(isWaiting(asked)).toBe(true);
  const answered = told(asked, [tell("answered", { request_id: "r", answer: "blue", by: "kim" })]);
  expect(isWaiting(answered)).toBe(false);
  expect(answered.blocks[0]).toMatchObject({ answered: { answer: "blue", by: "kim", isDeclined: false } });
  const declined = told(asked, [tell("answered", { request_id: "r", answer: null, declined: true, by: "kim" })]);
  expect(isWaiting(declined)).toBe(false);
  expect(declined.blocks[0]).toMatchObject({ answered: { by: "kim", isDeclined: true } });
});

test("two calls at once are told apart, and one that failed says so", () => {
  const { blocks } = told(EMPTY, [
    tell("tool_call", { call_id: "a", tool: "t", arguments: {} }),
    tell("tool_call", { call_id: "b", tool: "t", arguments: {} }),
    tell("tool_result", { call_id: "b", text: "no", is_error: true, code: "timeout" }),
  ]);
  expect(blocks.map((block) => (block as CallBlock).state)).toEqual(["called", "failed"]);
});

test("a card folds when the next step begins, unless somebody chose", () => {
  const call = (state: CallBlock["state"]): CallBlock => ({ kind: "call", id: "a", tool: "t", arguments: {}, state });
  expect(isCallOpen(call("running"), false, undefined)).toBe(true);
  expect(isCallOpen(call("done"), true, undefined)).toBe(true);
  expect(isCallOpen(call("done"), false, undefined)).toBe(false);
  expect(isCallOpen(call("running"), true, false)).toBe(false);
  expect(isCallOpen(call("done"), false, true)).toBe(true);
});

test("a call without a result is no success once its run has ended", () => {
  const call = (state: CallBlock["state"]): CallBlock => ({ kind: "call", id: "a", tool: "t", arguments: {}, state });
  expect(outcomeOf(call("called"), false)).toBe("running");
  expect(outcomeOf(call("running"), true)).toBe("stopped");
  expect(outcomeOf(call("called"), true)).toBe("stopped");
  expect(outcomeOf(call("done"), true)).toBe("done");
  expect(outcomeOf(call("failed"), true)).toBe("failed");
});

test("a call that has to be approved waits, and only that one, until somebody decides", () => {
  const call = (id: string, number: number) => tell("tool_call", { call_id: id, tool: "shred", arguments: { number } });
  const ask = tell("needs_input", {
    request_id: "r",
    kind: "approval",
    question: "?",
    tool: "shred",
    arguments: { number: 7 },
  });
  const asked = told(EMPTY, [call("a", 7), call("b", 8), ask]);
  const outcomes = ({ blocks }: typeof asked, isOver = false) =>
    blocks.flatMap((block) => (block.kind === "call" ? [outcomeOf(block, isOver)] : []));
  expect(outcomes(asked)).toEqual(["waiting", "running"]);
  expect(outcomes(asked, true)).toEqual(["stopped", "stopped"]);
  const decided = told(asked, [tell("answered", { request_id: "r", answer: { decision: "approve" }, by: "kim" })]);
  expect(outcomes(decided)).toEqual(["running", "running"]);
});
