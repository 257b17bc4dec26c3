// All tools that fit are asked for, page by page, and a change is seen among them.

import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { putTool, wholeToolsQuery } from "./queries";

test("all pages come as one, and a tool that is switched is switched there, too", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { search, searchParams } = new URL(request.url);
    asked.push(search);
    const at = Number(searchParams.get("cursor") ?? 0);
    const items = [{ name: `tool_${at}`, is_active: true }];
    return Response.json({ items, next_cursor: at < 2 ? String(at + 1) : null });
  });
  const queries = new QueryClient();
  const query = wholeToolsQuery({ q: "tool", active: true });
  const names = async () => (await queries.fetchInfiniteQuery(query)).pages.flatMap((page) => page.items);
  expect((await names()).map((tool) => tool.name)).toEqual(["tool_0", "tool_1", "tool_2"]);
  expect(asked[1]).toBe("?q=tool&active=true&limit=500&cursor=1");
  putTool(queries, "tool_1", (tool) => ({ ...tool, is_active: false }));
  const now = queries.getQueryData(query.queryKey)?.pages[0]?.items;
  expect(now?.map((tool) => tool.is_active)).toEqual([true, false, true]);
});
