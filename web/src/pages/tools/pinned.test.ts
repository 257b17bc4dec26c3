import { expect, test } from "vitest";
import { isPinned, offered, pinned } from "./pinned";

test("what was a default is pinned, and is one again", () => {
  const schema = { type: "string", description: "d", default: "Seoul" };
  const on = pinned(schema, true);
  expect(on).toEqual({ type: "string", description: "d", const: "Seoul", readOnly: true });
  expect(isPinned(on)).toBe(true);
  expect(pinned(on, false)).toEqual(schema);
  expect(pinned(pinned({ type: "string" }, true), false)).toEqual({ type: "string" });
});

test("agents are not asked for what is pinned", () => {
  const city = { type: "string" };
  const schema = { type: "object", properties: { city, unit: { const: "C", readOnly: true } }, required: ["unit"] };
  expect(offered(schema)).toEqual({ type: "object", properties: { city } });
  const open = { type: "object", properties: { city, said: { const: 1 } } };
  expect(offered(open)).toBe(open);
});
