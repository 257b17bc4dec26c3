// Command lines as they are copied from documents and browsers.

import { expect, test } from "vitest";
import { parseCurl, words } from "./curl";

test("words are split as a shell splits them", () => {
  expect(words(`curl 'a b' "c \\"d" e\\ f \\\n g''h`)).toEqual(["curl", "a b", 'c "d', "e f", "gh"]);
  expect(() => words("curl 'a")).toThrow("quote");
});

test("an address with a query, headers and a token", () => {
  expect(
    parseCurl("curl 'https://api.example.com/v1/orders?status=open' -H 'Authorization: Bearer 123' -H 'X-A: b:c'"),
  ).toEqual({
    base_url: "https://api.example.com",
    method: "GET",
    path: "/v1/orders",
    query: { status: "open" },
    headers: { "X-A": "b:c" },
    auth: { type: "bearer", token: "123" },
  });
});

test("data makes it a POST, with a body of its own kind", () => {
  expect(parseCurl(`curl https://a.example/x -H 'Content-Type: application/json' -d '{"a": 1}'`)).toMatchObject({
    method: "POST",
    body: { a: 1 },
    body_type: "json",
    headers: {},
  });
  expect(parseCurl("curl a.example/x -d a=1 -d b=2")).toMatchObject({
    body: { a: "1", b: "2" },
    body_type: "form",
    base_url: "https://a.example",
  });
  expect(parseCurl("curl -G a.example/x -d a=1")).toMatchObject({ method: "GET", query: { a: "1" } });
  expect(parseCurl("curl -XDELETE a.example -u me:pw")).toMatchObject({
    method: "DELETE",
    path: "",
    auth: { type: "basic", username: "me", password: "pw" },
  });
});

test("places for arguments stay what they are", () => {
  expect(parseCurl("curl 'https://a.example/x/{{id}}?q={{q}}'")).toMatchObject({
    path: "/x/{{id}}",
    query: { q: "{{q}}" },
  });
});

test("what cannot be taken is told", () => {
  expect(() => parseCurl("wget x")).toThrow("notCurl");
  expect(() => parseCurl("curl -H 'a: b'")).toThrow("noAddress");
  expect(() => parseCurl("curl 'https://a b/'")).toThrow("badAddress");
  expect(() => parseCurl("curl 'https://a")).toThrow("quote");
});
