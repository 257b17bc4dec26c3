// The line for the terminal is what a shell reads back as the same call.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { asCurl, givenAgain, inOneLine, inTester } from "./curl";

test("a shell reads the arguments back as they were", () => {
  const args = { text: `it's "quoted" $HOME \`x\` \\ 한글`, list: [1, null] };
  const line = asCurl("http://127.0.0.1:1", "clean_text", args).replace(/^curl/, "printf '%s\\n'");
  const read = execFileSync("sh", ["-c", line], { env: { TOOLCRIB_KEY: "k" }, encoding: "utf8" }).split("\n");
  expect(read).toContain("http://127.0.0.1:1/api/v1/tools/clean_text/call");
  expect(read).toContain("X-API-Key: k");
  expect(JSON.parse(read[read.indexOf("-d") + 1]!)).toEqual({ arguments: args });
});

test("the tester's address names the call, however long its arguments are", () => {
  const call = { id: "0190", tool_name: "files/read", arguments: { text: "x".repeat(70_000) } };
  expect(inTester(call)).toEqual({ to: "/tools/files%2Fread", search: { test: "1", replay: "0190" } });
});

test("one line, cut where it is long", () => {
  expect(inOneLine({ a: 1, b: "x" })).toBe('a: 1, b: "x"');
  expect(inOneLine("x".repeat(300))).toHaveLength(161);
  expect(inOneLine(null)).toBe("null");
});

test("a call is repeated without what the log hides, and not at all where it has only the beginning", () => {
  const whole = { text: "***bold***", list: [1, { a: null }] };
  expect(givenAgain(whole)).toEqual({ values: whole, hidden: [] });
  expect(givenAgain({ url: "x", token: "***", login: { user: "u", password: "***" }, keys: ["***", "b"] })).toEqual({
    values: { url: "x", login: { user: "u" }, keys: ["b"] },
    hidden: ["token", "login.password", "keys"],
  });
  expect(givenAgain("***")).toBeUndefined();
  expect(givenAgain('{"text":"very long… [123 bytes cut]')).toBeUndefined();
  expect(givenAgain(null)).toBeUndefined();
});
