// What is said of a tool's risk is what the server takes it for.

import { expect, test } from "vitest";
import { riskOf, withRisk } from "./safety";

test("each risk is read as it was said, and leaves the rest alone", () => {
  for (const risk of ["", "read_only", "writes", "destructive"] as const) {
    const said = withRisk({ read_only: true, destructive: false, idempotent: true }, risk);
    expect(riskOf(said)).toBe(risk);
    expect(said.idempotent).toBe(true);
  }
  // A server calls what is both the worse of the two.
  expect(riskOf({ read_only: true, destructive: true })).toBe("destructive");
});
