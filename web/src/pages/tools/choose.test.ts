// Choosing one tool forgets no other.

import { act, renderHook } from "@testing-library/react";
import { useState } from "react";
import { expect, test } from "vitest";
import { type Choose, type Chosen, chosenWith } from "./choose";

test("rows that were drawn before a choice add to it", () => {
  const { result } = renderHook(() => useState<Chosen>(new Set()));
  const old: Choose = result.current[1];
  act(() => old((before) => chosenWith(before, "a", true)));
  act(() => old((before) => chosenWith(before, "b", true)));
  expect([...result.current[0]]).toEqual(["a", "b"]);
  act(() => old((before) => chosenWith(before, "a", false)));
  expect([...result.current[0]]).toEqual(["b"]);
});
