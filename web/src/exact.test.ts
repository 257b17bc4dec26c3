// Whole numbers of any length go through the page as they came.

import { afterEach, expect, test, vi } from "vitest";
import { api, got } from "./api/client";
import { readExact, writeExact } from "./exact";
import { keyOf, partOfText, same, textOfPart } from "./pages/tools/cases";
import { bodyOf, draftOf, drafts, inferred } from "./pages/tools/draft";
import type { Tool } from "./pages/tools/queries";
import { parseJson, parseNumber } from "./ui/schema";

afterEach(() => vi.unstubAllGlobals());

const LONG = "9007199254740993";
const TEXTS = [
  `{"id":${LONG},"rows":[-${LONG},1,2.5,18446744073709551615]}`,
  `{"${LONG}":"${LONG}","quoted \\"${LONG}\\"":["\\\\",${LONG}],"e":1e21,"f":0.1}`,
  "9007199254740991",
  LONG,
  '{"a":{"__proto__":null,"b":"12345678901234567890"}}',
];

test("what is read and written again is the same text", () => {
  for (const text of TEXTS) expect(writeExact(readExact(text))).toBe(text.replace("1e21", "1e+21"));
  expect(writeExact(readExact(`[${LONG}]`), 2)).toBe(`[\n  ${LONG}\n]`);
  expect(writeExact(undefined)).toBeUndefined();
});

test("what fits a number is one, and what is no JSON is refused in the usual words", () => {
  expect(readExact("[9007199254740991, 1.5]")).toEqual([9007199254740991, 1.5]);
  expect(readExact(LONG)).toBe(9007199254740993n);
  for (const text of [`[${LONG}`, `{${LONG}: 1}`, `0${LONG}`, `${LONG}x`, "", `{"a" ${LONG}}`]) {
    expect(() => readExact(text), text).toThrow(SyntaxError);
    expect(() => readExact(text), text).not.toThrow(/\ue000/);
  }
});

test("the server's answers and what is sent to it are exact, with and without a length", async () => {
  const sent: string[] = [];
  for (const headers of [new Headers(), new Headers({ "Content-Length": "60" })]) {
    vi.stubGlobal("fetch", async (request: Request) => {
      sent.push(await request.text());
      return new Response(`{"status":"success","data":{"id":${LONG}}}`, { headers });
    });
    const answer = await got(
      api.POST("/api/v1/tools/{name}/call", {
        params: { path: { name: "t" } },
        body: { arguments: { id: readExact(LONG) } } as never,
      }),
    );
    expect(writeExact(answer)).toBe(`{"status":"success","data":{"id":${LONG}}}`);
  }
  expect(sent).toEqual(Array(2).fill(`{"arguments":{"id":${LONG}}}`));
});

test("an answer without a body is none", async () => {
  vi.stubGlobal("fetch", async () => new Response("", { status: 200 }));
  expect(await got(api.POST("/api/v1/logout" as never, {} as never))).toBeUndefined();
});

test("a definition that holds a long number is saved, kept and compared with it", () => {
  const tool = readExact(
    `{"name":"t","description":"d","kind":"sql","config":{},"is_active":true,"examples":[],"version":1,
      "input_schema":{"properties":{"id":{"type":"integer","maximum":${LONG},"default":${LONG}}}},
      "tests":[{"arguments":{"id":${LONG}},"expect":${LONG}}]}`,
  ) as Tool;
  const body = writeExact(bodyOf(draftOf(tool)));
  expect(body.match(new RegExp(LONG, "g"))).toHaveLength(4);
  drafts.write("t", draftOf(tool));
  expect(writeExact(bodyOf(drafts.read("t")!))).toBe(body);
  const [one] = draftOf(tool).tests;
  expect(same(one!.expect, readExact(LONG))).toBe(true);
  expect(same(one!.expect, readExact("9007199254740992"))).toBe(false);
  expect(keyOf(one!)).toContain(LONG);
  expect(inferred(readExact(`[1,${LONG}]`))).toEqual({ type: "array", items: { type: "integer" } });
});

test("a long number can be typed", () => {
  expect(parseNumber(LONG, true)).toEqual({ value: 9007199254740993n });
  expect(parseNumber("7", true)).toEqual({ value: 7 });
  expect(parseJson(`{"a":[${LONG}]}`)).toEqual({ value: { a: [9007199254740993n] } });
  expect(textOfPart(partOfText(LONG))).toBe(LONG);
});
