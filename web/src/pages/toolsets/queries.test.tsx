// A tool that is gone is told as missing, once, wherever it is asked for.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useTools } from "./queries";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Inner() {
  const { tools } = useTools(["gone"]);
  return <p>{tools.get("gone") === null ? "missing" : "unknown"}</p>;
}

/** As the page does: the editor is there once the tools are known, and asks for them itself. */
function Outer() {
  return useTools(["gone"]).isPending ? <p>waits</p> : <Inner />;
}

test("one that is not there is not asked for again and again", async () => {
  const asked = vi.fn(async () => Response.json({ error: { code: "not_found", message: "gone" } }, { status: 404 }));
  vi.stubGlobal("fetch", asked);
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={queries}>
      <Outer />
    </QueryClientProvider>,
  );
  await screen.findByText("missing");
  await vi.waitFor(() => expect(queries.isFetching()).toBe(0));
  expect(asked).toHaveBeenCalledOnce();
  screen.getByText("missing");
});
