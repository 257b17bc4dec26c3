// Quotas and what is used of them come together, and neither hides the other.

import { expect, test } from "vitest";
import type { LimitView, UsageView } from "../../api/schema";
import { merged } from "./queries";

test("a quota with its count, one whose tool is gone, and a limit without a quota", () => {
  const limits = [
    { target_type: "USER", target_id: "1", target_name: "kim", max_count: 10, updated_at: "t" },
    { target_type: "TOOL", target_id: "9", target_name: null, max_count: 0, updated_at: "t" },
  ] as LimitView[];
  const usage = [
    { target_type: "USER", target_id: "1", target_name: "kim", day: "d", count: 4, max_count: 10 },
    { target_type: "TOOL", target_id: "2", target_name: "slow", day: "d", minute: { count: 1, max_count: 5 } },
  ] as UsageView[];
  const all = merged(limits, usage);
  expect(all.map((one) => [one.name, one.quota, one.count])).toEqual([
    ["kim", 10, 4],
    ["9", 0, 0],
    ["slow", null, 0],
  ]);
  expect(all[2]?.minute?.max_count).toBe(5);
});
