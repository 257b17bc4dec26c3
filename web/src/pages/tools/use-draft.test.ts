// Nobody's words are lost to another version, and nobody goes on with an old one without knowing.

import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { type Draft, drafts, emptyDraft } from "./draft";
import type { Tool } from "./queries";
import { rebased, useDraft } from "./use-draft";

beforeEach(() => localStorage.clear());

const version = (number: number, description: string): Draft => ({
  ...emptyDraft(),
  name: "a",
  description,
  version: number,
});
const edit = () =>
  renderHook(({ original }) => useDraft("a", original), { initialProps: { original: version(2, "second") } });

test("a newer version takes the place of one that nobody changed", () => {
  const { result, rerender } = edit();
  rerender({ original: version(3, "first") });
  expect(result.current.draft).toMatchObject({ version: 3, description: "first" });
  expect(result.current.dirty).toBe(false);
});

test("what was written stays, with the version it was written on", () => {
  const { result, rerender } = edit();
  act(() => result.current.setDraft({ ...result.current.draft, description: "mine" }));
  rerender({ original: version(3, "first") });
  expect(result.current.draft).toMatchObject({ version: 2, description: "mine" });
  expect(result.current.dirty).toBe(true);
});

test("a text that is no value yet is a change, and is kept", () => {
  const { result, rerender } = edit();
  act(() => result.current.setDraft({ ...result.current.draft, unread: { "config.caller": "who" } }));
  expect(result.current.dirty).toBe(true);
  rerender({ original: version(3, "first") });
  expect(result.current.draft.unread).toEqual({ "config.caller": "who" });
});

test("what was kept in the browser comes first", () => {
  drafts.write("a", version(2, "kept"));
  expect(edit().result.current).toMatchObject({ restored: true, dirty: true, draft: { description: "kept" } });
});

const saved = {
  ...{ name: "a", description: "sent", kind: "sql", shelf: "database", is_active: true, config: {}, version: 3 },
  ...{ input_schema: { type: "object" }, examples: [], tests: [] },
} as unknown as Tool;

test("what is typed while it is saved is a change of what was saved", () => {
  const sent = version(2, "sent");
  expect(rebased(sent, sent, saved)).toMatchObject({ description: "sent", version: 3 });
  const later = { ...sent, description: "sent, and more" };
  expect(rebased(sent, later, saved)).toMatchObject({ description: "sent, and more", version: 3 });
});

const mask = { set: true, last4: "cret" };
const sealed = (auth_config: unknown): Draft => ({ ...version(2, "second"), auth_config });
const keptAnd = (auth_config: unknown, original: Draft) => {
  drafts.write("a", { ...original, description: "mine", auth_config });
  return renderHook(() => useDraft("a", original)).result.current.draft.auth_config;
};

test("a draft of a tool that has a token still has it", () => {
  expect(keptAnd({ type: "bearer", token: mask }, sealed({ type: "bearer", token: mask }))).toEqual({
    type: "bearer",
    token: mask,
  });
  expect(keptAnd({ type: "bearer", token: { $secret: "shop" } }, sealed(undefined))).toEqual({
    type: "bearer",
    token: { $secret: "shop" },
  });
});

test("a token that was typed is not left in the browser; the stored one stands in its place", () => {
  const basic = { type: "basic", username: "me", password: mask };
  expect(keptAnd({ ...basic, username: "you", password: "open sesame" }, sealed(basic))).toEqual({
    ...basic,
    username: "you",
  });
  expect(JSON.stringify({ ...localStorage })).not.toContain("open sesame");
  expect(keptAnd({ type: "header", name: "X-Key", value: "open sesame" }, sealed(basic))).toEqual({
    type: "header",
    name: "X-Key",
  });
  expect(keptAnd(null, sealed(basic))).toBeNull();
});
