// Nothing that was written in a form is lost, but for what must not stay in a browser.

import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import { useKept } from "./kept";

const told = vi.hoisted(() => vi.fn());
vi.mock("./ui/toast", () => ({ toast: told }));

beforeEach(() => localStorage.clear());

const empty = { name: "", password: "" };
const form = () => renderHook(() => useKept("a", empty, (draft) => ({ ...draft, password: "" })));

test("who leaves finds what they wrote, without the password", () => {
  const first = form();
  expect(first.result.current.isRestored).toBe(false);
  act(() => first.result.current.setDraft({ name: "half", password: "open sesame" }));
  first.unmount();
  expect(JSON.stringify({ ...localStorage })).not.toContain("open sesame");
  const again = form();
  expect(again.result.current.draft).toEqual({ name: "half", password: "" });
  expect(again.result.current.isRestored).toBe(true);
});

test("what was discarded begins anew, what was saved is not kept", () => {
  const first = form();
  act(() => first.result.current.setDraft({ name: "half", password: "" }));
  first.unmount();
  const again = form();
  act(() => again.result.current.discard());
  expect(again.result.current.draft).toEqual(empty);
  again.unmount();
  expect(localStorage.length).toBe(0);
  const third = form();
  act(() => third.result.current.setDraft({ name: "whole", password: "" }));
  act(() => third.result.current.done());
  third.unmount();
  expect(localStorage.length).toBe(0);
});

test("what somebody else broke is no draft", () => {
  localStorage.setItem("toolcrib.form.a", "{");
  expect(form().result.current.draft).toEqual(empty);
});

test("whoever leaves is asked only while something is not saved", () => {
  const { result } = form();
  expect(result.current.leaving).toMatchObject({ dirty: false, isDone: { current: false } });
  act(() => result.current.setDraft({ name: "half", password: "" }));
  expect(result.current.leaving.dirty).toBe(true);
  act(() => result.current.done());
  expect(result.current.leaving.isDone.current).toBe(true);
});

const stored = (version: number, text: string) => ({ text, note: "", version });
const versioned = (version: number, text: string) =>
  renderHook(({ now }) => useKept("b", now), { initialProps: { now: stored(version, text) } });

test("what somebody else saved is taken over while nothing is written here", () => {
  const { result, rerender } = versioned(1, "first");
  rerender({ now: stored(2, "theirs") });
  expect(result.current.draft).toEqual(stored(2, "theirs"));
  expect(result.current.isOutdated).toBe(false);
});

test("what is written stays on the version it was begun on, until somebody decides", () => {
  const { result, rerender } = versioned(1, "first");
  act(() => result.current.setDraft((before) => ({ ...before, text: "mine" })));
  rerender({ now: stored(2, "theirs") });
  expect(result.current.draft).toEqual(stored(1, "mine"));
  expect(result.current.isOutdated).toBe(true);
  expect(result.current.stored.text).toBe("theirs");
  act(() => result.current.goOn());
  expect(result.current.draft).toEqual(stored(2, "mine"));
  expect(result.current.isOutdated).toBe(false);
  act(() => result.current.discard());
  expect(result.current.draft).toEqual(stored(2, "theirs"));
});

test("a draft that is found again still knows the version it was begun on", () => {
  const first = versioned(1, "first");
  act(() => first.result.current.setDraft((before) => ({ ...before, text: "mine" })));
  first.unmount();
  const again = versioned(4, "theirs").result.current;
  expect(again.draft).toEqual(stored(1, "mine"));
  expect(again.isOutdated).toBe(true);
});

test("what is written while it is being saved is a change of what was saved", () => {
  const { result } = versioned(1, "first");
  act(() => result.current.setDraft((before) => ({ ...before, text: "mine" })));
  const sent = result.current.draft;
  act(() => result.current.setDraft((before) => ({ ...before, note: "later" })));
  act(() => result.current.saved(sent, stored(2, "mine")));
  expect(result.current.draft).toEqual({ text: "mine", note: "later", version: 2 });
  expect(result.current.leaving.dirty).toBe(true);
  act(() => result.current.saved(result.current.draft, { text: "mine", note: "later", version: 3 }));
  expect(result.current.leaving.dirty).toBe(false);
});

test("what is written while it is being saved under another name is found there", () => {
  const { result, unmount } = versioned(1, "first");
  act(() => result.current.setDraft((before) => ({ ...before, text: "mine" })));
  const sent = result.current.draft;
  act(() => result.current.setDraft((before) => ({ ...before, note: "later" })));
  act(() => result.current.moved(sent, stored(2, "mine"), "c"));
  act(() => result.current.setDraft((before) => ({ ...before, note: "later still" })));
  unmount();
  expect(Object.keys(localStorage)).toEqual(["toolcrib.form.c"]);
  const there = renderHook(() => useKept("c", stored(2, "mine"))).result.current;
  expect(there.draft).toEqual({ text: "mine", note: "later still", version: 2 });
  expect([there.isRestored, there.isOutdated]).toEqual([true, false]);
});

test("what was saved under another name as it is leaves nothing behind", () => {
  const { result, unmount } = versioned(1, "first");
  act(() => result.current.setDraft((before) => ({ ...before, text: "mine" })));
  act(() => result.current.moved(result.current.draft, stored(2, "mine"), "c"));
  expect(result.current.leaving.dirty).toBe(false);
  unmount();
  expect(localStorage.length).toBe(0);
});

test("whoever relies on a browser that keeps nothing is told, once", () => {
  const full = vi.fn(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  vi.stubGlobal("localStorage", { getItem: () => null, setItem: full, removeItem: () => {} });
  for (const name of ["one", "two"]) {
    const { result, unmount } = form();
    act(() => result.current.setDraft({ name, password: "" }));
    unmount();
  }
  expect(full).toHaveBeenCalledTimes(2);
  expect(told).toHaveBeenCalledOnce();
  vi.unstubAllGlobals();
});
