// A span of one's own: what is typed stays, and what is no span is said and not asked for.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { loadTexts } from "../../i18n";
import executions from "../../i18n/en/executions.json";
import type { Search } from "../../search";
import { OwnSpan } from "./own-span";

beforeAll(() => loadTexts(["executions"]));
afterEach(cleanup);

const iso = (text: string) => new Date(text).toISOString();
const BEGUN = { since: iso("2026-11-18T10:00:30"), until: iso("2026-11-18T11:00:30") };
let asked: Search;

function Host({ start = BEGUN }: { start?: Search }) {
  const [found, setFound] = useState<Search>(start);
  asked = found;
  return (
    <>
      <OwnSpan found={found} onChange={(change) => setFound((before) => ({ ...before, ...change }))} />
      <button type="button" onClick={() => setFound(BEGUN)}>
        back
      </button>
    </>
  );
}

const field = (label: string) => screen.getByLabelText(label) as HTMLInputElement;
const type = (label: string, value: string) => {
  field(label).focus();
  fireEvent.change(field(label), { target: { value } });
};

test("an end before the beginning stays where it was typed, and says what is wrong", () => {
  render(<Host />);
  type(executions.to, "2026-11-18T09:00");
  expect(field(executions.to).value).toBe("2026-11-18T09:00");
  expect(screen.getByRole("alert").textContent).toBe(executions.spanProblem.reversed);
  expect(asked).toEqual(BEGUN);
  type(executions.from, "2026-11-18T08:00");
  expect(screen.queryByRole("alert")).toBeNull();
  expect(asked).toEqual({ since: iso("2026-11-18T08:00"), until: iso("2026-11-18T09:00") });
});

test("half a date stays half a date, and a year that is being typed asks for nothing", () => {
  render(<Host />);
  type(executions.from, "");
  expect(field(executions.from).value).toBe("");
  expect(screen.getByRole("alert").textContent).toBe(executions.spanProblem.unread);
  type(executions.from, "0202-11-18T10:00");
  expect(field(executions.from).value).toBe("0202-11-18T10:00");
  expect(asked).toEqual(BEGUN);
  type(executions.from, "2025-11-18T10:00");
  // The other end is the one that it was, to the second.
  expect(asked).toEqual({ since: iso("2025-11-18T10:00"), until: BEGUN.until });
});

test("what an address says wrongly is shown as it is, and another span takes its place", () => {
  render(<Host start={{ since: iso("2026-11-18T11:00"), until: iso("2026-11-18T10:00") }} />);
  expect(field(executions.from).value).toBe("2026-11-18T11:00");
  expect(screen.getByRole("alert").textContent).toBe(executions.spanProblem.reversed);
  fireEvent.click(screen.getByText("back"));
  expect(field(executions.to).value).toBe("2026-11-18T11:00");
  expect(screen.queryByRole("alert")).toBeNull();
});
