// Arguments that are set beforehand are filled in as the tool of the server describes them.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import { TipProvider } from "../../ui/tip";
import { type Draft, emptyDraft, unreadIn } from "./draft";
import { LogicMcp } from "./logic-mcp";
import { offersQuery } from "./queries";

vi.stubGlobal("fetch", async () => Response.json({ items: [], next_cursor: null }));
beforeAll(() => loadTexts(["programs", "servers", "editor", "frame", "form"]));
afterEach(cleanup);

const offer = {
  name: "search",
  inputSchema: {
    type: "object",
    properties: { site: { type: "string" }, limit: { type: "integer" } },
    required: ["site", "limit"],
  },
};

let now: Draft;
type Props = { config: Draft["config"]; offers: unknown[]; unread?: Draft["unread"] };
function Step({ config, offers, unread }: Props) {
  const [queries] = useState(() => {
    const made = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 60_000 } } });
    made.setQueryData(offersQuery("web").queryKey, offers as never);
    made.setQueryData(["servers"], [] as never);
    return made;
  });
  const [draft, setDraft] = useState<Draft>({
    ...emptyDraft(),
    kind: "mcp",
    unread,
    config: { server_name: "web", tool_name: "search", ...config },
  });
  now = draft;
  return (
    <QueryClientProvider client={queries}>
      <TipProvider>
        <LogicMcp
          draft={draft}
          change={(some) =>
            setDraft((before) => ({ ...before, ...(typeof some === "function" ? some(before) : some) }))
          }
          problem={() => undefined}
          dirty
          keep="t"
        />
      </TipProvider>
    </QueryClientProvider>
  );
}
const field = (label: RegExp) => screen.getByLabelText(label) as HTMLInputElement;
const write = (label: RegExp, value: string) => fireEvent.change(field(label), { target: { value } });

test("each argument has its field, and none has to be set", () => {
  render(<Step config={{ arguments: { site: "example.com" } }} offers={[offer]} />);
  expect(field(/^site/).value).toBe("example.com");
  write(/^limit/, "5");
  expect(now.config.arguments).toEqual({ site: "example.com", limit: 5 });
  write(/^limit/, "");
  write(/^site/, "example.org");
  expect(now.config.arguments).toEqual({ site: "example.org" });
});

test("what is no value keeps the tool from being saved without it", () => {
  render(<Step config={{}} offers={[offer]} />);
  write(/^limit/, "five");
  expect(unreadIn(now)).toHaveLength(1);
  write(/^limit/, "5");
  expect(unreadIn(now)).toEqual([]);
  write(/^limit/, "");
  expect(now.config).toEqual({ server_name: "web", tool_name: "search" });
});

test("a draft of another time is not kept from being saved by a field that is empty now", () => {
  render(<Step config={{}} offers={[offer]} unread={{ "config.arguments of the form": "…" }} />);
  expect(unreadIn(now)).toEqual([]);
});

test("without a description of the tool they are written as JSON", () => {
  render(<Step config={{ arguments: { site: "example.com" } }} offers={[]} />);
  expect(screen.queryByLabelText(/^site/)).toBeNull();
  expect(document.body.textContent).toContain('"site": "example.com"');
});
