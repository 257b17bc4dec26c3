// Plans of both databases are read as steps, and one of another kind is left as it is.

import { expect, test } from "vitest";
import { stepsOf } from "./plan";

test("rows of SQLite, with their depth", () => {
  const steps = stepsOf([
    { id: 3, parent: 0, notused: 45, detail: "SEARCH u USING COVERING INDEX by_name (user_nm=?)" },
    { id: 9, parent: 0, notused: 216, detail: "SCAN l" },
    { id: 12, parent: 9, notused: 0, detail: "SEARCH x USING INTEGER PRIMARY KEY (rowid=?)" },
    { id: 20, parent: 0, notused: 0, detail: "USE TEMP B-TREE FOR ORDER BY" },
  ]);
  expect(steps?.map(({ depth, does, table, index }) => [depth, does, table, index])).toEqual([
    [0, "search", "u", "by_name"],
    [0, "scan", "l", undefined],
    [1, "search", "x", undefined],
    [0, "other", undefined, undefined],
  ]);
});

test("the tree of PostgreSQL", () => {
  const steps = stepsOf([
    {
      Plan: {
        "Node Type": "Hash Join",
        "Hash Cond": "(a = b)",
        "Plan Rows": 5,
        Plans: [
          { "Node Type": "Seq Scan", "Relation Name": "orders", "Plan Rows": 900 },
          { "Node Type": "Index Scan", "Relation Name": "users", "Index Name": "users_pkey", "Plan Rows": 1 },
        ],
      },
    },
  ]);
  expect(steps).toEqual([
    { depth: 0, does: "other", table: undefined, index: undefined, text: "Hash Join (a = b)", rows: 5 },
    { depth: 1, does: "scan", table: "orders", index: undefined, text: "Seq Scan", rows: 900 },
    { depth: 1, does: "search", table: "users", index: "users_pkey", text: "Index Scan", rows: 1 },
  ]);
});

test("anything else is no list of steps", () => {
  for (const plan of [null, [], "text", [{ a: 1 }]]) expect(stepsOf(plan)).toBeNull();
});
