// All tools that fit are asked for, page by page, and a change is seen among them.

import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { putTool, removeTool, toolsQuery, wholeToolsQuery } from "./queries";

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

test("once a tool is deleted, the numbers beside the list are those of now, and what names it elsewhere is old", async () => {
  let left = ["kept", "gone"];
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, search, searchParams } = new URL(request.url);
    asked.push(`${request.method} ${search || pathname}`);
    if (request.method === "DELETE") {
      left = ["kept"];
      return new Response(null, { status: 204 });
    }
    const counts = { total: left.length, kind: { sql: left.length } };
    const limit = Number(searchParams.get("limit"));
    return Response.json({ items: left.slice(0, limit).map((name) => ({ name })), counts });
  });
  const queries = new QueryClient();
  queries.setQueryData(["toolsets", "list"], []);
  const list = new InfiniteQueryObserver(queries, toolsQuery({ q: "e" }));
  const stop = list.subscribe(() => {});
  await vi.waitFor(() => expect(list.getCurrentResult().data?.pages[0]?.counts?.total).toBe(2));
  asked.length = 0;
  await removeTool(queries, "gone");
  const page = () => list.getCurrentResult().data?.pages[0];
  expect(page()?.items.map((tool) => tool.name)).toEqual(["kept"]);
  await vi.waitFor(() => expect(page()?.counts).toMatchObject({ total: 1, kind: { sql: 1 } }));
  expect(asked).toEqual(["DELETE /api/v1/tools/gone", "GET ?q=e&limit=1&count=true"]);
  expect(queries.getQueryState(["toolsets", "list"])?.isInvalidated).toBe(true);
  stop();
});
