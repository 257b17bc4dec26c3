// A parameter that is called something else is called so where it is used, and nowhere else.

import { expect, test } from "vitest";
import { emptyDraft } from "./draft";
import { renamedIn } from "./renamed";

const sql = (query: string) =>
  renamedIn({ ...emptyDraft(), kind: "sql", config: { query, write: true } }, "id", "user_id");
const formula = (expression: string) =>
  renamedIn({ ...emptyDraft(), kind: "expression", config: { expression } }, "n", "count").expression;

test("in a query, as :name and {{name}}, not in texts, comments, casts and longer names", () => {
  expect(sql("SELECT id::text, ':id' FROM t WHERE a = :id AND b = {{ id }} AND c = :id_2 -- :id")).toEqual({
    query: "SELECT id::text, ':id' FROM t WHERE a = :user_id AND b = {{ user_id }} AND c = :id_2 -- :id",
    write: true,
  });
});

test("in an expression, where the name is read", () => {
  expect(formula("n * 2 + xs.n + round(n, 2) # n\nresult = 'n' + str(n)")).toBe(
    "count * 2 + xs.n + round(count, 2) # n\nresult = 'n' + str(count)",
  );
  expect(formula("f'{n:.2f} n {n + nn}'")).toBe("f'{count:.2f} n {count + nn}'");
  // A name of its own, that only happens to be the same.
  expect(formula("n = 5\nresult = n")).toBe("n = 5\nresult = n");
});

test("in the places of a request, wherever they stand", () => {
  const config = { base_url: "https://a/{{id}}", headers: { x: "{{ id }}", y: "id" }, body: [{ a: "{{id}}{{id2}}" }] };
  expect(renamedIn({ ...emptyDraft(), kind: "http", config }, "id", "key")).toEqual({
    base_url: "https://a/{{key}}",
    headers: { x: "{{ key }}", y: "id" },
    body: [{ a: "{{key}}{{id2}}" }],
  });
});

test("what does not name it stays the same object", () => {
  const config = { query: "SELECT 1" };
  expect(renamedIn({ ...emptyDraft(), config }, "id", "key")).toBe(config);
});
