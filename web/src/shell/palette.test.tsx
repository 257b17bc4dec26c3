// The palette finds all that has a name, and offers nothing that somebody may not do.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { meQuery } from "../api/me";
import { Palette } from "./palette";

const went = vi.fn();
vi.mock("@tanstack/react-router", () => ({ useNavigate: () => went }));
// What cmdk asks of a browser.
vi.stubGlobal(
  "ResizeObserver",
  class {
    observe() {}
    unobserve() {}
    disconnect() {}
  },
);
Element.prototype.scrollIntoView = () => {};

const stored: Record<string, string[]> = {
  tools: ["report_sales"],
  agents: ["reporter"],
  toolsets: ["reports"],
  servers: ["report-server", "other"],
  sources: ["report_db"],
};

async function open(scopes: string[], text: string) {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    asked.push(url.pathname + url.search);
    const items = (stored[url.pathname.split("/").at(-1)!] ?? []).map((name) => ({ name, state: "ready" }));
    return Response.json({ items });
  });
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { user: "kim", role: "USER", scopes } as never);
  render(
    <QueryClientProvider client={queries}>
      <Suspense>
        <Palette open onClose={() => {}} onConnect={() => {}} />
      </Suspense>
    </QueryClientProvider>,
  );
  fireEvent.change(screen.getByRole("combobox"), { target: { value: text } });
  await act(() => vi.waitFor(() => expect(queries.isFetching()).toBe(0), { timeout: 15_000 }));
  return asked;
}

afterEach(cleanup);

test("finds tools, agents, toolsets, servers and sources, and goes there", async () => {
  const asked = await open(["read"], "report");
  for (const name of ["report_sales", "reporter", "reports", "report-server", "report_db"])
    expect(screen.queryByText(name), name).not.toBeNull();
  expect(screen.queryByText("other")).toBeNull();
  expect(asked).toContain("/api/v1/agents?q=report&limit=6");
  fireEvent.click(screen.getByText("reporter"));
  expect(went).toHaveBeenCalledWith({ to: "/agents/reporter" });
});

test.each(["executions", "호출", "ㅎㅊ"])(
  "a page is found by its name in either language, and by the first consonants of the Korean one: %s",
  async (text) => {
    await open(["read"], text);
    // The words of the other language are fetched when the palette opens.
    await screen.findByText("frame:nav.executions", {}, { timeout: 15_000 });
    await vi.waitFor(() => expect(screen.queryByText("frame:nav.sources")).toBeNull(), { timeout: 15_000 });
  },
  20_000,
);

test("only whoever may make a tool is offered a new one", async () => {
  await open(["read"], "");
  expect(screen.queryByText("newTool")).toBeNull();
  cleanup();
  await open(["author"], "");
  expect(screen.queryByText("newTool")).not.toBeNull();
});
