// A key is what counts most: revoked before expired before used.

import { expect, test } from "vitest";
import { stateOf } from "./queries";

const now = new Date("2026-06-01T00:00:00Z").getTime();

test.each([
  [{ revoked_at: "2026-01-01T00:00:00Z", expires_at: "2026-01-01T00:00:00Z" }, "revoked"],
  [{ expires_at: "2026-06-01T00:00:00Z", last_used_at: "2026-05-01T00:00:00Z" }, "expired"],
  [{ expires_at: "2026-06-02T00:00:00Z", last_used_at: "2026-05-01T00:00:00Z" }, "active"],
  [{}, "unused"],
])("%j is %s", (key, state) => {
  expect(stateOf(key, now)).toBe(state);
});
