// What is typed while a toolset is being saved stays, here or where somebody is brought.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { meQuery } from "../../api/me";
import { loadTexts } from "../../i18n";
import toolsets from "../../i18n/en/toolsets.json";
import { TipProvider } from "../../ui/tip";
import Toolset from "./editor";

const at = vi.hoisted(() => ({ name: undefined as string | undefined, went: vi.fn() }));
vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<typeof import("@tanstack/react-router")>()),
  useNavigate: () => at.went,
  useParams: () => ({ name: at.name }),
  useBlocker: () => ({ status: "idle" }),
  Link: ({ children }: { children: React.ReactNode }) => <span>{children}</span>,
}));

const stored = { id: "s1", name: "docs", tools: [], allow: null, deny: null, owner: "kim", find_tools: false };
let version: number;
const toolOf = (name: string) => ({ id: `id-${name}`, name, description: "", input_schema: {} });
/** What it holds once it was saved. */
let later: string[];
let find: (text: string | null) => Promise<unknown[]>;
let answer: (() => void) | undefined;

beforeAll(() => loadTexts(["toolsets", "frame", "form"]));
beforeEach(() => {
  localStorage.clear();
  at.went.mockClear();
  version = 1;
  answer = undefined;
  later = [];
  find = async () => [];
  vi.stubGlobal("fetch", async (request: Request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/api/v1/tools")
      return Response.json({ items: await find(searchParams.get("q")), next_cursor: null });
    if (pathname.startsWith("/api/v1/tools/")) return Response.json(toolOf(decodeURIComponent(pathname.slice(14))));
    const { method } = request;
    if (method === "GET") return Response.json({ ...stored, tools: version > 1 ? later : stored.tools, version });
    const sent = (await request.json()) as { name: string };
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    version += 1;
    return Response.json({ ...stored, ...sent, version });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function open(name?: string) {
  at.name = name;
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(meQuery.queryKey, { user: "kim", scopes: ["admin", "author"] } as never);
  const shown = render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <Toolset />
      </TipProvider>
    </QueryClientProvider>,
  );
  await screen.findByLabelText(/^Description/);
  return { ...shown, settled: () => vi.waitFor(() => expect(queries.isFetching()).toBe(0)) };
}

const field = (label: RegExp) => screen.getByLabelText(label) as HTMLInputElement;
const type = (label: RegExp, value: string) => fireEvent.change(field(label), { target: { value } });
const saved = async () => {
  await vi.waitFor(() => expect(answer).toBeTruthy());
  await act(async () => answer?.());
};

test("what is typed while it is saved is a change of what was saved", async () => {
  const { settled } = await open("docs");
  type(/^Description/, "sent");
  fireEvent.submit(document.querySelector("form")!);
  await act(async () => {});
  type(/^Description/, "typed since");
  await saved();
  await act(settled);
  expect(field(/^Description/).value).toBe("typed since");
  expect(screen.queryByRole("alert")).toBeNull();
  expect(at.went).not.toHaveBeenCalled();
});

test("what is typed while a new one is made is found again where it is shown", async () => {
  const { unmount } = await open();
  type(/^Name( \*)?$/, "mine");
  fireEvent.click(screen.getByLabelText(new RegExp(toolsets.everyChosen)));
  fireEvent.submit(document.querySelector("form")!);
  await act(async () => {});
  type(/^Description/, "typed since");
  await saved();
  expect(at.went).toHaveBeenCalledWith({ to: "/toolsets/mine", ignoreBlocker: true });
  unmount();
  expect(JSON.parse(localStorage.getItem("toolcrib.form.toolset.mine") ?? "{}")).toMatchObject({
    description: "typed since",
    version: 2,
  });
});

test("Enter in the search adds the first hit of what is typed, and saves nothing", async () => {
  let isFound: (() => void) | undefined;
  find = async (text) => {
    if (!text) return [toolOf("another")];
    await new Promise<void>((resolve) => {
      isFound = resolve;
    });
    return [toolOf("files.read"), toolOf("files.write")];
  };
  const { settled } = await open();
  await screen.findByText("another");
  const enter = () => act(async () => void fireEvent.keyDown(field(/^Pick tools/), { key: "Enter" }));
  await enter();
  await act(async () => type(/^Pick tools/, "files"));
  await enter();
  expect(screen.getByText(toolsets.entry.none)).toBeTruthy();
  // What is typed is looked for a moment later.
  await vi.waitFor(() => expect(isFound).toBeDefined());
  await act(async () => isFound?.());
  await act(settled);
  await screen.findByLabelText("Take files.read out");
  expect(screen.getAllByLabelText(/^Take /)).toHaveLength(1);
  expect(field(/^Pick tools/).value).toBe("");
  // Else the browser would send the form.
  expect(fireEvent.keyDown(field(/^Pick tools/), { key: "Enter" })).toBe(false);
});

test("the editor stays while what was saved is asked anew, with tools that are not known yet", async () => {
  const { settled } = await open("docs");
  later = ["id-new"];
  type(/^Description/, "sent");
  fireEvent.submit(document.querySelector("form")!);
  await act(async () => {});
  const description = field(/^Description/);
  description.focus();
  await saved();
  await act(settled);
  expect(document.activeElement).toBe(description);
});
