// What a schema becomes on the page, and that values stay the JSON they are.

import { expect, test } from "vitest";
import { firstValue, parseJson, parseNumber, placeOf, problemAt, shapeOf, startOf } from "./schema";

test("a schema becomes the field that can hold its values", () => {
  const root = { $defs: { Day: { type: "string", format: "date" } } };
  expect(shapeOf({ type: "string" }, root).kind).toBe("text");
  expect(shapeOf({ type: ["integer", "null"] }, root)).toMatchObject({ kind: "integer", nullable: true });
  expect(shapeOf({ anyOf: [{ type: "boolean" }, { type: "null" }] }, root)).toMatchObject({
    kind: "boolean",
    nullable: true,
  });
  expect(shapeOf({ $ref: "#/$defs/Day", description: "when" }, root).schema).toEqual({
    type: "string",
    format: "date",
    description: "when",
  });
  expect(shapeOf({ type: "string", enum: ["a", "b"] }, root).kind).toBe("choice");
  expect(shapeOf({ type: "object", properties: { a: {} } }, root).kind).toBe("object");
  expect(shapeOf({ type: "array", items: { type: "number" } }, root).kind).toBe("array");
});

test("what no field can hold is written as JSON", () => {
  for (const schema of [{}, { type: "object" }, { type: ["string", "number"] }, { type: "array" }, true])
    expect(shapeOf(schema, {}).kind).toBe("json");
  expect(shapeOf({ anyOf: [{ type: "string" }, { type: "number" }] }, {}).kind).toBe("json");
});

test("a reference that leads in a circle ends", () => {
  const root = { $defs: { A: { $ref: "#/$defs/A" } } };
  expect(shapeOf({ $ref: "#/$defs/A" }, root).kind).toBe("json");
});

test("numbers are those of JSON, and never rounded", () => {
  expect(parseNumber("12", true)).toEqual({ value: 12 });
  expect(parseNumber(" -1.5e3 ", false)).toEqual({ value: -1500 });
  expect(parseNumber("1.5", true)).toEqual({ wrong: "whole" });
  expect(parseNumber("01", false)).toEqual({ wrong: "number" });
  expect(parseNumber("1e999", false)).toEqual({ wrong: "number" });
  expect(parseNumber("", false)).toEqual({ wrong: "number" });
  expect(parseNumber("9007199254740993", true)).toEqual({ value: 9007199254740993n });
});

test("JSON that is broken is told, and keeps every value as it is", () => {
  expect(parseJson('{"a": "1", "b": null, "c": [true, 1.5]}')).toEqual({ value: { a: "1", b: null, c: [true, 1.5] } });
  expect(parseJson('{"a": ')).toMatchObject({ wrong: "json" });
  expect(parseJson('{"a": [9007199254740993]}')).toEqual({ value: { a: [9007199254740993n] } });
  expect(parseJson('{"a": "9007199254740993", "b": 0.12345678901234567890}')).toHaveProperty("value");
});

test("places are named as the server names them", () => {
  expect(placeOf(placeOf(placeOf("", "a"), 0), "b")).toBe("a[0].b");
  const problems = [{ path: "a[0].b", message: "no" }];
  expect(problemAt(problems, "a")).toBeUndefined();
  expect(problemAt(problems, "a", true)).toBe("no");
  expect(problemAt(problems, "ab", true)).toBeUndefined();
});

test("a problem is found at its field, whatever the field is called and however the place is written", () => {
  for (const name of ["이름", "user-id", "2fa", "a b"])
    for (const path of [name, `[${JSON.stringify(name)}]`])
      expect([path, problemAt([{ path, message: "no" }], placeOf("", name))]).toEqual([path, "no"]);
  const inside = [{ path: "고객.목록[1].이름", message: "no" }];
  expect(problemAt(inside, placeOf(placeOf(placeOf(placeOf("", "고객"), "목록"), 1), "이름"))).toBe("no");
  expect(problemAt(inside, placeOf("", "고객"), true)).toBe("no");
  expect(problemAt(inside, placeOf("", "고"), true)).toBeUndefined();
});

test("the first arguments hold what the schema names, and nothing invented", () => {
  const schema = {
    required: ["a", "b", "c"],
    properties: {
      a: { type: "number", default: 3 },
      b: { type: "string", examples: ["x"] },
      c: { type: "string" },
      d: { type: "string", default: "left out" },
    },
  };
  expect(firstValue(schema)).toEqual({ a: 3, b: "x" });
  expect(startOf(shapeOf({ type: "string" }, {}))).toBe("");
});
