// Names are parted by commas and by lines alike, and the one that is being typed is completed alone.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { nameAt, ToolLines } from "./tool-lines";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("the name at the caret", () => {
  const text = "clean_*, greet\ncalc";
  const at = (caret: number) => {
    const { from, to } = nameAt(text, caret);
    return text.slice(from, to);
  };
  expect(at(3)).toBe("clean_*");
  expect(at(12)).toBe("greet");
  expect(at(text.length)).toBe("calc");
});

let now: string[] = [];
function Form() {
  const [value, setValue] = useState<string[]>([]);
  now = value;
  return <ToolLines label="tools" value={value} onChange={setValue} />;
}

test("commas and lines part names, and a name is completed in its place", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ items: [{ name: "greet_py" }], next_cursor: null }));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Form />
    </QueryClientProvider>,
  );
  const box = screen.getByLabelText("tools") as HTMLTextAreaElement;
  fireEvent.change(box, { target: { value: "clean_*, gre" } });
  expect(now).toEqual(["clean_*", "gre"]);
  expect(box.value).toBe("clean_*, gre");
  fireEvent.click(await screen.findByText("greet_py"));
  expect(now).toEqual(["clean_*", "greet_py"]);
  expect(box.value).toBe("clean_*, greet_py");
});
