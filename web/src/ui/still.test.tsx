// Nothing is typed into fields that are about to go, and whoever typed goes on where they were if they stay.

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Still } from "./still";

afterEach(cleanup);

const form = (busy: boolean) => (
  <Still busy={busy}>
    <input aria-label="Name" />
    <input aria-label="Address" />
  </Still>
);

test("fields rest while something is on its way, and the last one has the focus again", () => {
  const { rerender } = render(form(false));
  screen.getByLabelText("Address").focus();
  rerender(form(true));
  expect(screen.getByRole("group")).toHaveProperty("disabled", true);
  // Browsers do this; the document here does not.
  screen.getByLabelText("Address").blur();
  rerender(form(false));
  expect(document.activeElement).toBe(screen.getByLabelText("Address"));
});

test("who has gone on elsewhere is not called back", () => {
  const { rerender } = render(
    <>
      {form(true)}
      <button type="button">Elsewhere</button>
    </>,
  );
  screen.getByRole("button").focus();
  rerender(
    <>
      {form(false)}
      <button type="button">Elsewhere</button>
    </>,
  );
  expect(document.activeElement).toBe(screen.getByRole("button"));
});
