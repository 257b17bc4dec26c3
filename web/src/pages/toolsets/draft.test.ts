// What the editor sends, and what it says that patterns fit.

import { expect, test } from "vitest";
import { fitting } from "../../patterns";
import { argumentProblems, bodyOf, draftOf, lacksTools, offered } from "./draft";
import type { ToolName, ToolsetView } from "./queries";

const tools = ["calculator", "files.read", "files.write", "sql_orders"].map((name, at) => ({
  id: `id-${at}`,
  name,
})) as ToolName[];
const names = tools.map((tool) => tool.name);
const stored = {
  name: "docs",
  tools: ["id-0", { tool: "files.read", name: "read", arguments: { head: 2 } }],
  deny: ["files.w*"],
  find_tools: true,
  is_public: false,
} as unknown as ToolsetView;

test("ids become names, and what is said of a tool stays with it", () => {
  expect(bodyOf(draftOf(stored, tools))).toMatchObject({
    name: "docs",
    tools: ["calculator", { tool: "files.read", name: "read", arguments: { head: 2 } }],
    deny: ["files.w*"],
    find_tools: true,
  });
});

test("patterns fit whole names, and a dot is a dot", () => {
  expect(fitting("files.*", names)).toEqual(["files.read", "files.write"]);
  expect(fitting("sql?orders", names)).toEqual(["sql_orders"]);
  expect(fitting("files.rea", names)).toEqual([]);
  expect(fitting("filesXread", names)).toEqual([]);
});

test("offered: the listed ones under their new names, then the allowed, never the denied", () => {
  const draft = draftOf(stored, tools);
  expect(offered(draft, names)).toEqual(["calculator", "read"]);
  expect(offered({ ...draft, allow: ["*"] }, names)).toEqual(["calculator", "read", "sql_orders"]);
  expect(offered({ ...draft, rows: [] }, names)).toEqual([]);
  expect(offered({ ...draft, isEvery: true }, names)).toEqual(["calculator", "files.read", "sql_orders"]);
});

test("arguments that are no object are told at their row", () => {
  const draft = draftOf(stored, tools);
  const [first, second] = draft.rows;
  const wrong = {
    ...draft,
    rows: [
      { ...first!, arguments: "[1]" },
      { ...second!, arguments: "{" },
    ],
  };
  expect([...argumentProblems(wrong).keys()]).toEqual([first!.key, second!.key]);
  expect(argumentProblems(draft).size).toBe(0);
});

test("every tool is a choice: a list that got empty is not one", () => {
  const draft = draftOf(stored, tools);
  expect(lacksTools({ ...draft, rows: [] })).toBe(true);
  expect(lacksTools({ ...draft, rows: [], allow: ["x*"] })).toBe(false);
  const whole = draftOf({ ...stored, tools: [], allow: null }, tools);
  expect(whole.isEvery).toBe(true);
  expect(lacksTools(whole)).toBe(false);
  // A set that allows nothing has nothing.
  expect(draftOf({ ...stored, tools: [], allow: [] }, tools).isEvery).toBe(false);
  const body = bodyOf({ ...draft, isEvery: true, allow: ["x*"] });
  expect(body).not.toHaveProperty("tools");
  expect(body).not.toHaveProperty("allow");
});
