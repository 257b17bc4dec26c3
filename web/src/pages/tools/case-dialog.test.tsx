// A saved test is changed, or written by hand, without running the tool first.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, fireEvent, render, screen, within } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import { TipProvider } from "../../ui/tip";
import { type Case, type Draft, emptyDraft, parameter } from "./draft";
import { TestStep } from "./test-step";

// Parts of it are loaded when they are first shown, which takes its time on a machine that is at work.
configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });

beforeAll(() => loadTexts(["editor", "frame", "tools", "testing", "form"]));
afterEach(cleanup);

let now: Draft;
function Step({ tests }: { tests: Case[] }) {
  const [draft, setDraft] = useState<Draft>({
    ...emptyDraft(),
    parameters: [parameter("city"), parameter("days", { type: "integer" })],
    tests,
  });
  now = draft;
  return (
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <TestStep
          draft={draft}
          change={(some) => setDraft((before) => ({ ...before, ...some }))}
          problem={() => undefined}
          dirty
          keep="t"
          may
          onTried={() => {}}
        />
      </TipProvider>
    </QueryClientProvider>
  );
}
const dialog = async () => within(await screen.findByRole("dialog"));
const write = (field: HTMLElement, value: string) => fireEvent.change(field, { target: { value } });

test("arguments and the expected value of a test are changed in place", async () => {
  const one: Case = { name: "busan", arguments: { city: "Busan", days: 1 }, expect: { rain: 3 } };
  render(<Step tests={[{ arguments: { city: "Seoul", days: 2 }, expect: 1 }, one]} />);
  fireEvent.click(screen.getByRole("button", { name: "Edit test 2" }));
  const form = await dialog();
  const expected = form.getByLabelText(/^Expected value/) as HTMLTextAreaElement;
  expect(expected.value).toBe('{\n  "rain": 3\n}');
  write(form.getByLabelText(/^days/), "7");
  write(expected, '{"rain": ');
  const done = form.getByRole("button", { name: "Take it over" }) as HTMLButtonElement;
  expect(done.disabled).toBe(true);
  write(expected, '{"rain": 4}');
  fireEvent.click(done);
  expect(now.tests[1]).toEqual({ name: "busan", arguments: { city: "Busan", days: 7 }, expect: { rain: 4 } });
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a test is written by hand, with a part of the answer or an error", async () => {
  render(<Step tests={[]} />);
  const begin = async () => {
    fireEvent.click(screen.getByRole("button", { name: "Write a test" }));
    return dialog();
  };
  let form = await begin();
  const done = () => form.getByRole("button", { name: "Take it over" }) as HTMLButtonElement;
  write(form.getByLabelText(/^city/), "Seoul");
  // Nothing that it expects yet.
  expect(done().disabled).toBe(true);
  write(form.getByLabelText("What it expects"), "part");
  write(form.getByLabelText(/^Part of the answer/), "sunny");
  fireEvent.click(done());
  form = await begin();
  write(form.getByLabelText("What it expects"), "error");
  write(form.getByLabelText(/^Code of the error/), "timeout");
  fireEvent.click(done());
  expect(now.tests).toEqual([
    { arguments: { city: "Seoul" }, expect_contains: "sunny" },
    { arguments: {}, expect_error: "timeout" },
  ]);
});

test("what is thrown away changes nothing", async () => {
  const one: Case = { arguments: { city: "Busan", days: 1 }, expect: 3 };
  render(<Step tests={[one]} />);
  fireEvent.click(screen.getByRole("button", { name: "Edit test 1" }));
  const form = await dialog();
  write(form.getByLabelText(/^Expected value/), "4");
  fireEvent.click(form.getByRole("button", { name: "Cancel" }));
  expect(now.tests).toEqual([one]);
});

test("a part that was changed in the dialog is shown so in the list", async () => {
  render(<Step tests={[{ arguments: {}, expect_contains: "rain" }]} />);
  fireEvent.click(screen.getByRole("button", { name: "Edit test 1" }));
  const form = await dialog();
  write(form.getByLabelText(/^Part of the answer/), "snow");
  fireEvent.click(form.getByRole("button", { name: "Take it over" }));
  const field = screen.getByLabelText("What the answer of test 1 must contain") as HTMLInputElement;
  expect(field.value).toBe("snow");
});
