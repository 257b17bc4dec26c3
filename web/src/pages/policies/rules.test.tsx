// The list of rules with the keys that other lists have.

import { act, cleanup, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import { onKeyDown } from "../../keys";
import { TipProvider } from "../../ui/tip";
import { Rules } from "./rules";

const edit = vi.fn();
const add = vi.fn();

beforeAll(() => loadTexts(["policies", "frame"]));
beforeEach(() => void document.addEventListener("keydown", onKeyDown));
afterEach(() => {
  document.removeEventListener("keydown", onKeyDown);
  cleanup();
});

function List({ names }: { names: string[] }) {
  const [rules, setRules] = useState(names.map((target) => ({ subject: "user", target, deny: ["sum"] })));
  return (
    <TipProvider>
      <Rules
        rules={rules as never}
        error={null}
        onChange={(next) => setRules(next as never)}
        onEdit={edit}
        onNew={add}
      />
    </TipProvider>
  );
}

const press = (key: string) =>
  act(
    () =>
      void (document.activeElement ?? document.body).dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true }),
      ),
  );
const at = () => document.activeElement?.getAttribute("aria-label");

test("J and K go through the rules, E changes the one that one is at, N begins a new one", () => {
  render(<List names={["a", "b", "c"]} />);
  press("j");
  expect(at()).toBe("Change rule 1");
  press("j");
  press("j");
  press("j");
  expect(at()).toBe("Change rule 3");
  press("k");
  expect(at()).toBe("Change rule 2");
  press("e");
  expect(edit).toHaveBeenLastCalledWith(1);
  press("n");
  expect(add).toHaveBeenCalledOnce();
});

test("once one is removed, the focus is at the next", async () => {
  render(<List names={["a", "b"]} />);
  act(() => screen.getByLabelText("Remove rule 2").click());
  await act(() => new Promise((done) => requestAnimationFrame(() => done(undefined))));
  expect(at()).toBe("Change rule 1");
});
