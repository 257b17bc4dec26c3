// A tool that was brought back is not among the deleted ones, unless it was deleted again.

import { expect, test } from "vitest";
import { type Act, deletedOf } from "./deleted-acts";

const act = (seq: number, name: string, id?: string, after?: object): Act => ({
  seq,
  at: `t${seq}`,
  actor: "admin",
  target: `tool:${name}`,
  before: id ? { id } : null,
  after,
});

test("the last act counts, by the tool and not by its name", () => {
  const removals = [act(1, "a", "1"), act(3, "b", "2"), act(6, "a", "3"), act(9, "c", "4")];
  const returns = [act(4, "b", undefined, { id: "2" }), act(8, "c", undefined, { id: "4" })];
  expect(deletedOf(removals, returns).map(({ id, name }) => [id, name])).toEqual([
    ["4", "c"],
    ["3", "a"],
    ["1", "a"],
  ]);
});

test("what is told without an id is known by its name", () => {
  expect(deletedOf([act(1, "a", "1")], [act(2, "a")])).toEqual([]);
});
