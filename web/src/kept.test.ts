// Nothing that was written in a form is lost, but for what must not stay in a browser.

import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { useKept } from "./kept";

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
