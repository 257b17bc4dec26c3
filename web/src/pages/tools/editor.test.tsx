// The steps of the editor are loaded one by one; nothing flickers between them, and nothing that was typed is lost.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { meQuery } from "../../api/me";
import { loadTexts } from "../../i18n";
import type { Search } from "../../search";
import { TipProvider } from "../../ui/tip";
import ToolEditor from "./editor";

vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<typeof import("@tanstack/react-router")>()),
  useNavigate: () => () => {},
  useParams: () => ({}),
  useBlocker: () => ({ status: "idle" }),
  Link: ({ children }: { children: React.ReactNode }) => <span>{children}</span>,
}));
vi.mock("../../search", () => ({
  useAddress: () => {
    const [found, setFound] = useState<Search>({});
    return [found, (some: Search) => setFound((before) => ({ ...before, ...some }))];
  },
}));
vi.mock("./steps", async (original) => {
  const all = await original<typeof import("./steps")>();
  return { ...all, comingStep: vi.fn(all.comingStep) };
});

// A step is loaded when it is first looked at, which takes its time on a machine that is at work.
vi.setConfig({ testTimeout: 30_000 });

beforeAll(() => loadTexts(["editor", "frame", "tools", "form"]));
beforeEach(() => {
  // As in a browser: what a test waits for by itself is shown as missing until it is there.
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
  configure({ eventWrapper: (event) => event(), asyncWrapper: (wait) => wait(), asyncUtilTimeout: 25_000 });
  localStorage.clear();
  vi.stubGlobal("fetch", async () => Response.json({ items: [], next_cursor: null }));
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function open() {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(meQuery.queryKey, { name: "kim", scopes: ["admin", "author"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <main>
          <ToolEditor />
        </main>
      </TipProvider>
    </QueryClientProvider>,
  );
}

test("the step before stays in sight until the next one is there, and what was typed stays", async () => {
  open();
  const name = (await screen.findByLabelText(/^Name/)) as HTMLInputElement;
  fireEvent.change(name, { target: { value: "double" } });
  const gaps: string[] = [];
  const look = () => {
    const shown = document.querySelector("[role=tabpanel][data-state=active]");
    if (!shown?.textContent || document.querySelector("[data-status=loading]")) gaps.push(shown?.innerHTML ?? "none");
  };
  // What is drawn, not what it is made of on the way.
  const watching = new MutationObserver(() => void setTimeout(look));
  watching.observe(document.body, { childList: true, subtree: true, attributes: true });
  fireEvent.click(screen.getByRole("button", { name: "Next" }));
  expect(screen.getByLabelText(/^Name/)).toBeTruthy();
  fireEvent.change(screen.getByLabelText(/^Name/), { target: { value: "double_it" } });
  await screen.findByText("It has no parameters yet");
  fireEvent.click(screen.getByRole("button", { name: "Back" }));
  const again = (await screen.findByLabelText(/^Name/)) as HTMLInputElement;
  expect(again.value).toBe("double_it");
  watching.disconnect();
  expect(gaps).toEqual([]);
});

test("Next pressed twice goes two steps, however late the first of them comes", async () => {
  open();
  const next = await screen.findByRole("button", { name: "Next" });
  fireEvent.click(next);
  fireEvent.click(next);
  expect(await screen.findByLabelText(/^Data source/)).toBeTruthy();
  await waitFor(() => expect(document.activeElement?.getAttribute("role")).toBe("tabpanel"));
  expect(document.activeElement?.getAttribute("data-state")).toBe("active");
});

test("the sources are on their way before the step that they are chosen in", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(new URL(request.url).pathname);
    return Response.json({ items: [], next_cursor: null });
  });
  open();
  await screen.findByLabelText(/^Name/);
  await waitFor(() => expect(asked).toContain("/api/v1/sources"));
});

test("a step that is pointed at is on its way", async () => {
  open();
  const { comingStep } = await import("./steps");
  fireEvent.pointerEnter(await screen.findByRole("tab", { name: /Test and save/ }));
  expect(comingStep).toHaveBeenCalledWith("test");
});
