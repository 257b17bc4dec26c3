// What the editor itself says is said in the language of the page.

import { expect, test, vi } from "vitest";
import { createEditor } from "./code-mirror";
import { beginSearch } from "./code-search";

// As the page does before its first paint.
vi.hoisted(() => {
  document.documentElement.lang = "ko";
});

test("searching in an editor is in Korean, too", async () => {
  const parent = document.body.appendChild(document.createElement("div"));
  const view = createEditor({ parent, text: "a b a", label: "code", onChange: () => {} });
  await beginSearch(view);
  const named = [...parent.querySelectorAll(".cm-search input, .cm-search button")].map(
    (one) => one.getAttribute("aria-label") || one.textContent || "",
  );
  expect(named).toContain("찾기");
  expect(named).toContain("바꿀 내용");
  expect(named.filter((name) => /[a-z]/i.test(name))).toEqual([]);
  const labels = [...parent.querySelectorAll(".cm-search label")].map((one) => one.textContent);
  expect(labels).toEqual(["대소문자 구분", "정규식", "단어 단위"]);
});
