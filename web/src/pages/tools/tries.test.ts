// What was tried with one unnamed tool is not there in the next.

import { expect, test } from "vitest";
import type { Answer } from "./queries";
import {
  argumentsOf,
  dropTries,
  keepAnswer,
  keepArguments,
  keptAnswer,
  keptArguments,
  moveTries,
  partKey,
} from "./tries";

const answer = { status: "success" } as Answer;

test("what was tried goes along with a tool that is saved, and away from where it was", () => {
  keepArguments("+new", { user: "hong" });
  keepAnswer("+new", answer);
  keepAnswer(partKey("+new"), answer);
  moveTries("+new", "get_limit");
  expect(argumentsOf("get_limit")).toEqual({ user: "hong" });
  expect(keptAnswer("get_limit")).toBe(answer);
  expect(keptArguments("+new")).toBeUndefined();
  expect(keptAnswer("+new")).toBeUndefined();
  expect(keptAnswer(partKey("+new"))).toBeUndefined();
});

test("a draft that is thrown away takes it along", () => {
  keepArguments("+new", { user: "kim" });
  dropTries("+new");
  expect(argumentsOf("+new")).toEqual({});
});
