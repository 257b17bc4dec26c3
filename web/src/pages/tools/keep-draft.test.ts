// Nothing that was written is lost, however soon somebody leaves.

import { renderHook } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { useKeeping } from "../../kept";
import { drafts, emptyDraft } from "./draft";

beforeEach(() => localStorage.clear());

const written = { ...emptyDraft(), name: "half_written" };
const edit = (isDone = { current: false }) =>
  renderHook(({ draft, dirty }) => useKeeping(drafts, "a", draft, dirty, isDone), {
    initialProps: { draft: emptyDraft(), dirty: false },
  });

test("who leaves at once finds the last words again", () => {
  const { rerender, unmount } = edit();
  rerender({ draft: written, dirty: true });
  unmount();
  expect(drafts.read("a")?.name).toBe("half_written");
});

test("a page that is loaded anew, too", () => {
  const { rerender } = edit();
  rerender({ draft: written, dirty: true });
  dispatchEvent(new Event("pagehide"));
  expect(drafts.read("a")?.name).toBe("half_written");
});

test("what was saved, thrown away or taken back is not kept", () => {
  const isDone = { current: false };
  const { rerender, unmount } = edit(isDone);
  rerender({ draft: written, dirty: true });
  isDone.current = true;
  unmount();
  expect(drafts.read("a")).toBeNull();
  const again = edit();
  again.rerender({ draft: written, dirty: true });
  again.rerender({ draft: emptyDraft(), dirty: false });
  again.unmount();
  expect(drafts.read("a")).toBeNull();
});
