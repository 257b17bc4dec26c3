// The lines that changed, and no others.

import { expect, test } from "vitest";
import { diffLines, folded } from "./diff";

const shown = (before: string, after: string) =>
  diffLines(before, after).map((line) => ({ same: " ", added: "+", removed: "-" })[line.kind] + line.text);

test("a line in the middle", () => {
  expect(shown("a\nb\nc", "a\nx\nc")).toEqual([" a", "-b", "+x", " c"]);
});

test("lines that moved apart stay where they are the same", () => {
  expect(shown("a\nb\nc\nd", "b\nnew\nd\ne")).toEqual(["-a", " b", "-c", "+new", " d", "+e"]);
});

test("a line that repeats at both ends is not counted twice", () => {
  expect(shown("a\na", "a")).toEqual([" a", "-a"]);
  expect(shown("", "")).toEqual([" "]);
});

test("what stayed is folded away but for its edge", () => {
  const same = Array.from({ length: 9 }, (_, at) => `l${at}`);
  const lines = folded(diffLines(same.join("\n"), [...same, "end"].join("\n")), 1);
  expect(lines).toEqual([null, { kind: "same", text: "l8" }, { kind: "added", text: "end" }]);
});
