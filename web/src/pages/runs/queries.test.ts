// A long list of runs shows what is true now, though only its newest page is asked for again.

import { expect, test } from "vitest";
import { hasGap, merged } from "./queries";

const run = (at: number, status = "done") => ({ id: `run-${at}`, created_at: `2026-01-01T00:00:0${at}Z`, status });
const page = (items: ReturnType<typeof run>[], more = true) => ({ items, next_cursor: more ? "more" : null });
const ids = (runs: { id: string }[]) => runs.map((one) => one.id);

test("new runs come first, those on the newest page are as they are now, older ones stay", () => {
  const loaded = [run(4, "running"), run(3), run(2), run(1)];
  const now = merged(page([run(5), run(4, "done"), run(3)]), loaded);
  expect(ids(now)).toEqual(["run-5", "run-4", "run-3", "run-2", "run-1"]);
  expect(now[1]?.status).toBe("done");
});

test("a run that fits the filter no more is gone", () => {
  const loaded = [run(4, "running"), run(3, "running"), run(2, "running"), run(1, "running")];
  expect(ids(merged(page([run(4, "running"), run(2, "running")]), loaded))).toEqual(["run-4", "run-2", "run-1"]);
  expect(ids(merged(page([run(2, "running")], false), loaded))).toEqual(["run-2"]);
});

test("tells when runs are missing in between", () => {
  expect(hasGap(page([run(9), run(8)]), [run(4), run(3)])).toBe(true);
  expect(hasGap(page([run(5), run(4)]), [run(4), run(3)])).toBe(false);
});
