// Whoever is told that somebody else saved sees what differs, and chooses.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { loadTexts } from "../i18n";
import { Outdated } from "./outdated";

beforeAll(() => loadTexts(["frame"]));
afterEach(cleanup);

const kept = {
  draft: { name: "a", prompt: "mine" },
  stored: { name: "a", prompt: "theirs" },
  isOutdated: true,
  discard: vi.fn(),
  goOn: vi.fn(),
};

test("only what differs is shown, theirs and mine", () => {
  render(<Outdated kept={kept} shown={(one) => one} />);
  expect(screen.getByLabelText("prompt").textContent).toContain("theirs");
  expect(screen.getByLabelText("prompt").textContent).toContain("mine");
  expect(screen.queryByLabelText("name")).toBeNull();
});

test("both can be chosen", () => {
  const onGoOn = vi.fn();
  render(<Outdated kept={kept} shown={(one) => one} onGoOn={onGoOn} />);
  fireEvent.click(screen.getByText("Go on with mine"));
  expect(kept.goOn).toHaveBeenCalledOnce();
  expect(onGoOn).toHaveBeenCalledOnce();
  fireEvent.click(screen.getByText("Discard the draft"));
  expect(kept.discard).toHaveBeenCalledOnce();
});

test("nothing is said while nobody else saved", () => {
  render(<Outdated kept={{ ...kept, isOutdated: false }} shown={(one) => one} />);
  expect(screen.queryByText("Go on with mine")).toBeNull();
});

test("whoever wanted to save is brought to it, nobody else", () => {
  const scroll = vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(() => {});
  const { rerender } = render(<Outdated kept={kept} shown={(one) => one} />);
  expect(scroll).not.toHaveBeenCalled();
  rerender(<Outdated kept={kept} shown={(one) => one} isRefused />);
  expect(scroll).toHaveBeenCalledOnce();
});
