// A tool that is opened and saved again is the same tool; parameters are found where they are meant.

import { expect, test } from "vitest";
import {
  bodyOf,
  type Draft,
  draftOf,
  emptyDraft,
  inferred,
  isFilled,
  ofKind,
  type Parameter,
  parameter,
  schemaOf,
  stepOf,
  unreadIn,
} from "./draft";

import { argvOf } from "./logic-programs";
import { namesIn } from "./names-in";
import { placesIn } from "./places-note";
import type { Tool } from "./queries";
import { parametersIn, quoted, undeclared, verbOf } from "./sql-parameters";
import { partOf } from "./writing";

const stored = {
  id: "1",
  name: "t",
  description: "d",
  kind: "sql",
  config: { source: "demo", query: "SELECT :a", caller: { who: "user" } },
  input_schema: {
    type: "object",
    properties: { a: { type: "string", minLength: 1, pattern: "^x" }, b: { anyOf: [{ type: "null" }] } },
    required: ["a"],
    $defs: { X: {} },
    additionalProperties: false,
  },
  output_format: "text",
  annotations: { read_only: true },
  timeout_seconds: 5,
  rate_limit: null,
  parallel_capable: true,
  is_active: false,
  is_public: true,
  examples: ["e"],
  tests: [{ arguments: {}, expect: null }],
  owner: "o",
  shelf: "file",
  version: 3,
  hash: "h",
  created_at: "",
  updated_at: "",
} as unknown as Tool;

test("what was stored comes back, with what the editor has no field for", () => {
  const body = bodyOf(draftOf(stored));
  for (const key of [
    "config",
    "input_schema",
    "examples",
    "tests",
    "timeout_seconds",
    "is_public",
    "is_active",
    "output_format",
  ])
    expect(body[key], key).toEqual((stored as unknown as Record<string, unknown>)[key]);
  expect(body).not.toHaveProperty("hash");
  expect(body).not.toHaveProperty("shelf");
  expect(body).not.toHaveProperty("auth_config");
});

test("what the server fills in is not said back, so that no version shows what nobody changed", () => {
  const whole = (more: object) => ({ ...stored, output_format: "json", is_public: false, ...more }) as unknown as Tool;
  const body = (more: object) => bodyOf(draftOf(whole(more)));
  const sql = body({ annotations: { read_only: true, destructive: false }, parallel_capable: true });
  for (const key of ["annotations", "parallel_capable", "output_format", "is_public"])
    expect(sql).not.toHaveProperty(key);
  expect(body({ annotations: { read_only: true, destructive: true } }).annotations).toEqual({
    read_only: true,
    destructive: true,
  });
  const get = {
    kind: "http",
    config: { base_url: "https://a.example", method: "GET" },
    annotations: { read_only: true },
  };
  // As a DELETE it must not be said to read because it read as a GET.
  expect(body(get)).not.toHaveProperty("annotations");
  expect(body({ ...get, config: { ...get.config, method: "POST" } }).annotations).toEqual({ read_only: true });
  expect(body({ kind: "shell", parallel_capable: true }).parallel_capable).toBe(true);
});

test("the order of the parameters is the order of the schema", () => {
  const draft: Draft = { ...emptyDraft(), parameters: [parameter("b"), parameter("a", { type: "number" }, false)] };
  expect(JSON.stringify(schemaOf(draft))).toBe(
    '{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}},"required":["b"],"additionalProperties":false}',
  );
});

test("going to another kind and back loses nothing", () => {
  const sql = { ...emptyDraft(), config: { source: "demo", query: "SELECT 1" } };
  const back = ofKind(ofKind(sql, "expression"), "sql");
  expect(back.config).toEqual(sql.config);
  expect(ofKind(sql, "expression").config).toEqual({ expression: "" });
});

test("a step is filled when it has what it needs", () => {
  const draft = emptyDraft();
  expect(isFilled(draft, "basics")).toBe(false);
  expect(isFilled({ ...draft, name: "a b", description: "x" }, "basics")).toBe(false);
  expect(isFilled({ ...draft, name: "a", description: "x" }, "basics")).toBe(true);
  expect(isFilled({ ...draft, parameters: [parameter("a"), parameter("a")] }, "parameters")).toBe(false);
  expect(stepOf("config.query")).toBe("logic");
  expect(stepOf("name")).toBe("basics");
});

test("parameters of a query, but not casts, texts, comments and slices", () => {
  const sql =
    "SELECT ':no', a::text, x[1:n] -- :no\nFROM t /* {{no}} */ WHERE a = :yes AND b = {{ also }} AND c = $$ :no $$";
  expect(parametersIn(sql).map((one) => one.name)).toEqual(["yes", "also"]);
  expect(undeclared("SELECT :a, :b, :a", ["b"])).toEqual(["a"]);
});

test("names in any language, in a query, in places and in formulas", () => {
  const sql = "SELECT * FROM 사용자 WHERE 이름 = :이름 AND 부서 = {{ 부서_2 }} AND a = :user이름 AND b[:1:끝] = 1";
  expect(parametersIn(sql).map((one) => one.name)).toEqual(["이름", "부서_2", "user이름"]);
  expect(sql.slice(parametersIn(sql)[0]!.from, parametersIn(sql)[0]!.to)).toBe(":이름");
  expect(undeclared(sql, ["이름"])).toEqual(["부서_2", "user이름"]);
  expect(placesIn({ path: "/v1/{{ 주문 }}", query: { q: "{{a-b}}" } })).toEqual(["주문", "a-b"]);
  expect(namesIn("합계 = 가격 * 수량 + len(목록)\nresult = 합계 if 할인.율 else 가격")).toEqual([
    "가격",
    "수량",
    "목록",
    "할인",
  ]);
  expect(argvOf(["grep", "{{ 낱말 }}", "--in={{파일}}"], { 낱말: ["가", "나"], 파일: "a.txt" })).toEqual([
    "grep",
    "가",
    "나",
    "--in=a.txt",
  ]);
});

test("part of a query takes along what it names in Korean", () => {
  const draft = { ...emptyDraft(), parameters: [parameter("이름"), parameter("other")] };
  const { tool, args } = partOf(draft, "SELECT :이름", { 이름: "홍", other: 1 });
  expect(args).toEqual({ 이름: "홍" });
  expect(tool).toMatchObject({ input_schema: { required: ["이름"] } });
});

test("what a query does, and names that need quotes", () => {
  expect(verbOf("-- hi\nselect 1")).toEqual({ verb: "SELECT", reads: true });
  expect(verbOf("WITH x AS (SELECT 1) DELETE FROM t")).toEqual({ verb: "WITH", reads: false });
  expect(verbOf("update t set a = 1")?.reads).toBe(false);
  expect(verbOf(" ")).toBeNull();
  expect(verbOf("WITH x AS (SELECT 'delete' AS act, \"update\" FROM t) SELECT * FROM x")?.reads).toBe(true);
  expect(verbOf("WITH x AS (SELECT $$insert$$) SELECT * FROM x")?.reads).toBe(true);
  expect(verbOf("(SELECT 1) UNION (SELECT 2)")).toEqual({ verb: "SELECT", reads: true });
  expect(quoted("h_user")).toBe("h_user");
  expect(quoted('사용자"x')).toBe('"사용자""x"');
});

test("parameters of one name, or with a description and no name, are not saved as fewer", () => {
  const said = parameter("", { type: "string", description: "who" });
  const of = (...parameters: Parameter[]) => unreadIn({ ...emptyDraft(), parameters });
  expect(of(parameter("a"), parameter("b"), parameter(" a "))).toEqual(["input_schema.properties.a"]);
  expect(of(parameter("a"), said)).toEqual(["input_schema.properties."]);
  expect(stepOf("input_schema.properties.")).toBe("parameters");
  expect(of(parameter("a"), parameter("", { type: "number" }))).toEqual([]);
});

test("a schema from one answer", () => {
  expect(inferred([{ a: 1, b: "x", c: null }])).toEqual({
    type: "array",
    items: { type: "object", properties: { a: { type: "integer" }, b: { type: "string" }, c: {} } },
  });
});

test("a schema of several rows fits all of them, whichever came first", () => {
  const rows = [
    { id: 1, price: 2, note: null, tags: [] },
    { id: 2, price: 2.5, note: "x", tags: ["a"], more: true },
    { id: 3, price: null, note: "y", tags: ["b"] },
  ];
  const schema = {
    type: "array",
    items: {
      type: "object",
      properties: {
        id: { type: "integer" },
        price: { type: ["number", "null"] },
        note: { type: ["null", "string"] },
        tags: { type: "array", items: { type: "string" } },
        more: { type: "boolean" },
      },
    },
  };
  expect(inferred(rows)).toEqual(schema);
  expect(inferred([null, null])).toEqual({ type: "array", items: {} });
  expect(inferred([])).toEqual({ type: "array" });
});
