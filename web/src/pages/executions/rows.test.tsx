// Whoever closes a call beside the list goes on where they were.

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import type { Search } from "../../search";
import type { Execution } from "./queries";
import { Rows } from "./rows";

const address = vi.hoisted(() => ({ found: {} as Search }));
vi.mock("../../search", () => ({ useAddress: () => [address.found, () => {}] }));
vi.mock("@tanstack/react-router", () => ({ useRouter: () => ({ navigate: () => {} }) }));

const scrolled = vi.fn();
beforeAll(() => loadTexts(["executions", "frame"]));
beforeEach(() => {
  scrolled.mockClear();
  // Nothing has a size here, and a list without one draws no rows.
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  Element.prototype.scrollTo = scrolled;
});
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const items = Array.from(
  { length: 100 },
  (_, at) =>
    ({
      id: `e${at}`,
      tool_name: `tool_${at}`,
      status: "success",
      started_at: "2026-11-19T10:00:00Z",
      elapsed: 0.1,
    }) as never as Execution,
);

const shown = (found: Search) => {
  address.found = found;
  return <Rows items={items} peeked={found.peek} onFilter={() => {}} hasMore={false} onMore={() => {}} />;
};

test("the list stays where it is, and the focus is at the call that was looked at last", async () => {
  const { rerender } = render(shown({ tool: "x" }));
  rerender(shown({ tool: "x", peek: "e2" }));
  rerender(shown({ tool: "x", peek: "e4", tab: "input" }));
  scrolled.mockClear();
  rerender(shown({ tool: "x" }));
  await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByRole("link", { name: /tool_4$/ })));
  expect(scrolled).not.toHaveBeenCalled();
  rerender(shown({ tool: "y" }));
  expect(scrolled).toHaveBeenCalled();
});
