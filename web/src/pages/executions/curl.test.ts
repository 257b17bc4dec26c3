// The line for the terminal is what a shell reads back as the same call.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asCurl, inOneLine, testerAddress } from "./curl";

test("a shell reads the arguments back as they were", () => {
  const args = { text: `it's "quoted" $HOME \`x\` \\ 한글`, list: [1, null] };
  const line = asCurl("http://127.0.0.1:1", "clean_text", args).replace(/^curl/, "printf '%s\\n'");
  const read = execFileSync("sh", ["-c", line], { env: { TOOLCRIB_KEY: "k" }, encoding: "utf8" }).split("\n");
  expect(read).toContain("http://127.0.0.1:1/api/v1/tools/clean_text/call");
  expect(read).toContain("X-API-Key: k");
  expect(JSON.parse(read[read.indexOf("-d") + 1]!)).toEqual({ arguments: args });
});

test("the tester's address holds the arguments", () => {
  const address = new URL(testerAddress("a", { x: "1&2" }), "http://h");
  expect(JSON.parse(address.searchParams.get("arguments")!)).toEqual({ x: "1&2" });
});

test("one line, cut where it is long", () => {
  expect(inOneLine({ a: 1, b: "x" })).toBe('a: 1, b: "x"');
  expect(inOneLine("x".repeat(300))).toHaveLength(161);
  expect(inOneLine(null)).toBe("null");
});
