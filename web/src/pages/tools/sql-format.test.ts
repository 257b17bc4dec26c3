// Formatting changes how a query looks, never what it asks.

import { expect, test } from "vitest";
import { formatSql } from "./sql-format";

test("parameters of both forms and casts stay what they are", () => {
  const text = formatSql("select a::text from t where b = :name and c = {{ other }}", "postgres");
  expect(text.replace(/\s+/g, " ")).toBe("SELECT a::text FROM t WHERE b = :name AND c = {{ other }}");
  expect(text.split("\n").length).toBeGreaterThan(3);
  expect(formatSql("select :이름, {{ 부서 }}", "sqlite").replace(/\s+/g, " ")).toBe("SELECT :이름, {{ 부서 }}");
});
