// What is written in a form is saved by the key that saves everywhere.

import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onKeyDown } from "../keys";
import { useSaveKey } from "./save-key";

beforeEach(() => addEventListener("keydown", onKeyDown));
afterEach(() => {
  removeEventListener("keydown", onKeyDown);
  cleanup();
});

function Form({ onSave, isOff }: { onSave: () => void; isOff?: boolean }) {
  const form = useSaveKey();
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      <input aria-label="field" />
      <button type="submit" disabled={isOff}>
        Save
      </button>
    </form>
  );
}

const press = () => fireEvent.keyDown(document.querySelector("input")!, { key: "s", code: "KeyS", ctrlKey: true });

test("Ctrl+S saves it from its fields, and not where its button would not", () => {
  const save = vi.fn();
  const { rerender } = render(<Form onSave={save} />);
  expect(press()).toBe(false);
  expect(save).toHaveBeenCalledOnce();
  rerender(<Form onSave={save} isOff />);
  press();
  expect(save).toHaveBeenCalledOnce();
});
