// What a pattern fits is found without fetching every tool.

import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { literalOf } from "../patterns";
import { fittingQuery } from "./tool-search";

test("the part of a pattern that each name must have", () => {
  expect(literalOf("files.*")).toBe("files.");
  expect(literalOf("*_report_?_v2*")).toBe("_report_");
  expect(literalOf("calculator")).toBe("calculator");
  expect(literalOf("*")).toBe("");
});

function server(pages: number) {
  const asked: URLSearchParams[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { searchParams } = new URL(request.url);
    asked.push(searchParams);
    const at = Number(searchParams.get("cursor") ?? 0);
    // The server finds the letters in descriptions, too.
    const items = [{ name: `files.read_${at}` }, { name: `other_${at}` }];
    return Response.json({ items, next_cursor: at + 1 < pages ? String(at + 1) : null });
  });
  return asked;
}

const fitting = (pattern: string) => new QueryClient().fetchQuery(fittingQuery(pattern));

test("asks for names with the literal part, and keeps those that fit", async () => {
  const asked = server(2);
  expect(await fitting("files.*")).toEqual({ names: ["files.read_0", "files.read_1"], isMore: false });
  expect(asked.map((one) => one.get("q"))).toEqual(["files.", "files."]);
});

test("stops where nobody reads on, and says that there are more", async () => {
  const asked = server(100);
  expect((await fitting("*")).isMore).toBe(true);
  expect(asked).toHaveLength(4);
  expect(asked[0]?.has("q")).toBe(false);
});
