// What was confirmed and then failed is not taken for done.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Confirm } from "./overlay";

afterEach(cleanup);

test("a refusal is told in the dialog, which stays; after another try it goes", async () => {
  const closed = vi.fn();
  const remove = vi.fn().mockRejectedValueOnce(new Error("still in use")).mockResolvedValueOnce(undefined);
  render(
    <Confirm open onClose={closed} title="Remove it?" action="Remove" onConfirm={remove}>
      text
    </Confirm>,
  );
  const confirm = () => act(async () => void fireEvent.click(screen.getByRole("button", { name: "Remove" })));
  await confirm();
  expect(screen.getByText("still in use")).toBeTruthy();
  expect(closed).not.toHaveBeenCalled();
  await confirm();
  expect(screen.queryByText("still in use")).toBeNull();
  expect(closed).toHaveBeenCalledTimes(1);
});
