// A dialog gives the focus back to what opened it, also where that was an entry of a menu.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import { Confirm, Dialog, Drawer } from "./overlay";
import { TipProvider } from "./tip";

afterEach(cleanup);

const settled = () => act(() => new Promise((done) => setTimeout(done, 10)));

function Opened({ kind }: { kind: "dialog" | "drawer" | "confirm" }) {
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <TipProvider>
      <button type="button" onClick={() => setOpen(true)}>
        Open
      </button>
      <button type="button" id="more">
        More
      </button>
      {!open && (
        <div role="menu" aria-labelledby="more">
          <button type="button" role="menuitem" onClick={() => setOpen(true)}>
            Entry
          </button>
        </div>
      )}
      {kind === "dialog" && (
        <Dialog open={open} onClose={close} title="Title">
          text
        </Dialog>
      )}
      {kind === "drawer" && (
        <Drawer open={open} onClose={close} title="Title">
          text
        </Drawer>
      )}
      {kind === "confirm" && (
        <Confirm open={open} onClose={close} title="Title" action="Delete" onConfirm={() => {}}>
          text
        </Confirm>
      )}
    </TipProvider>
  );
}

for (const kind of ["dialog", "drawer", "confirm"] as const)
  test(`a ${kind} gives the focus back`, async () => {
    render(<Opened kind={kind} />);
    for (const [name, back] of [
      ["Open", "Open"],
      ["Entry", "More"],
    ] as const) {
      const opener = screen.getByText(name);
      opener.focus();
      fireEvent.click(opener);
      await settled();
      expect(document.activeElement?.closest("[role=dialog],[role=alertdialog]")).not.toBeNull();
      fireEvent.keyDown(document.activeElement as Element, { key: "Escape" });
      await settled();
      expect(document.activeElement?.textContent).toBe(back);
    }
  });

test("where what opened it is gone, one goes on in the page", async () => {
  const page = (hasButton: boolean, open: boolean) => (
    <TipProvider>
      <main id="main" tabIndex={-1}>
        {hasButton && <button type="button">Delete</button>}
      </main>
      <Drawer open={open} onClose={() => {}} title="Title">
        text
      </Drawer>
    </TipProvider>
  );
  const { rerender } = render(page(true, false));
  screen.getByText("Delete").focus();
  rerender(page(true, true));
  await settled();
  rerender(page(false, false));
  await settled();
  expect(document.activeElement?.id).toBe("main");
});
