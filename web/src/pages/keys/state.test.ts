// A key is what counts most: revoked before expired before used.

import { expect, test } from "vitest";
import { stateOf, usesOf } from "./queries";

const now = new Date("2026-06-01T00:00:00Z").getTime();

test.each([
  [{ revoked_at: "2026-01-01T00:00:00Z", expires_at: "2026-01-01T00:00:00Z" }, "revoked"],
  [{ expires_at: "2026-06-01T00:00:00Z", last_used_at: "2026-05-01T00:00:00Z" }, "expired"],
  [{ expires_at: "2026-06-02T00:00:00Z", last_used_at: "2026-05-01T00:00:00Z" }, "active"],
  [{}, "unused"],
])("%j is %s", (key, state) => {
  expect(stateOf(key, now)).toBe(state);
});

test("what a key was used for leaves out the calls of other keys", () => {
  const call = (key: string | null, tool_name: string) => ({ key, tool_name });
  const calls = [call("ci", "a"), call("laptop", "b"), call("ci", "a"), call(null, "c"), call("ci", "d")];
  expect(usesOf("ci", calls)).toEqual({ looked: 5, calls: 3, tools: ["a", "d"] });
  expect(usesOf("none", calls)).toEqual({ looked: 5, calls: 0, tools: [] });
});
