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
  expect(parseCurl("curl 'https://a.example/주문/{{ 번호 }}/{{a}}-{{b}}'").path).toBe(
    "/%EC%A3%BC%EB%AC%B8/{{ 번호 }}/{{a}}-{{b}}",
  );
  expect(parseCurl("curl 'https://a.example/x/{id}'").path).toBe("/x/{id}");
});

test("short options stand together, and the last of them may take a value", () => {
  for (const line of [
    "curl -sX PUT a.example/x",
    "curl -sSLXPUT a.example/x",
    "curl a.example/x -kX PUT -so /dev/null",
  ])
    expect(parseCurl(line)).toMatchObject({ base_url: "https://a.example", path: "/x", method: "PUT" });
  expect(parseCurl("curl -sH 'X-A: b' -d a=1 a.example")).toMatchObject({ headers: { "X-A": "b" }, body: { a: "1" } });
});

test("texts with escapes, as browsers copy them", () => {
  expect(words(String.raw`curl $'it\'s \u0021\n\x41\t\\' 'a\b'`)).toEqual(["curl", "it's !\nA\t\\", "a\\b"]);
  expect(() => words(String.raw`curl $'a\'`)).toThrow("quote");
  const line = String.raw`curl a.example -H 'content-type: application/json' --data-raw $'{"a":"it\'s \u0021"}'`;
  expect(parseCurl(line)).toMatchObject({ body: { a: "it's !" }, body_type: "json" });
});

test("what is said several times is a list", () => {
  expect(parseCurl("curl 'a.example/?tag=a&tag=b&one=1&tag=c'").query).toEqual({ tag: ["a", "b", "c"], one: "1" });
  expect(parseCurl("curl a.example -d tag=a -d tag=b").body).toEqual({ tag: ["a", "b"] });
  expect(parseCurl("curl -G a.example/?tag=a -d tag=b").query).toEqual({ tag: ["a", "b"] });
});

test("data that curl itself would encode, and data that stands in files", () => {
  expect(parseCurl("curl -G a.example --data-urlencode 'q=a b & c=d' --data-urlencode '=x y'").query).toEqual({
    q: "a b & c=d",
    "x y": "",
  });
  for (const option of ["-d", "--data-binary", "--json", "--data-urlencode"])
    expect(() => parseCurl(`curl a.example ${option} @body.json`)).toThrow("dataFile");
  expect(parseCurl("curl a.example -H 'content-type: text/plain' --data-raw @me").body).toBe("@me");
});

test("what cannot be taken is told", () => {
  expect(() => parseCurl("wget x")).toThrow("notCurl");
  expect(() => parseCurl("curl -H 'a: b'")).toThrow("noAddress");
  expect(() => parseCurl("curl 'https://a b/'")).toThrow("badAddress");
  expect(() => parseCurl("curl 'https://a")).toThrow("quote");
});

const taken = (line: string) => {
  const { auth, headers, query } = parseCurl(line);
  return { auth, headers, query };
};

test("a credential goes where it is sealed, wherever it stands", () => {
  expect(taken("curl a.example -H 'X-API-Key: tck_1' -H 'Accept: text/plain'")).toEqual({
    auth: { type: "header", name: "X-API-Key", value: "tck_1" },
    headers: { Accept: "text/plain" },
    query: {},
  });
  expect(taken("curl 'a.example/x?api_key=1&city=Seoul'")).toEqual({
    auth: { type: "query", name: "api_key", value: "1" },
    headers: {},
    query: { city: "Seoul" },
  });
  for (const name of ["api-key", "x-auth-token", "Ocp-Apim-Subscription-Key", "PRIVATE-TOKEN", "Authorization"])
    expect(taken(`curl a.example -H '${name}: Token 1'`)).toEqual({
      auth: { type: "header", name, value: "Token 1" },
      headers: {},
      query: {},
    });
  for (const name of ["key", "token", "access_token", "serviceKey", "apikey"])
    expect(taken(`curl 'a.example?${name}=1'`).auth).toEqual({ type: "query", name, value: "1" });
  expect(taken("curl a.example -b 'sid=1; b=2'").auth).toEqual({ type: "header", name: "Cookie", value: "sid=1; b=2" });
  expect(taken("curl a.example -H 'Authorization: Basic bWU6cHc='").auth).toEqual({
    type: "basic",
    username: "me",
    password: "pw",
  });
  expect(taken("curl https://me:p%40w@a.example/x").auth).toEqual({ type: "basic", username: "me", password: "p@w" });
});

test("of two credentials the surer one is sealed, and the other stays where it is seen", () => {
  expect(taken("curl 'a.example?token=1' -H 'Cookie: a=b' -H 'X-Api-Key: 2'")).toEqual({
    auth: { type: "header", name: "X-Api-Key", value: "2" },
    headers: { Cookie: "a=b" },
    query: { token: "1" },
  });
  expect(taken("curl a.example -u me:pw -H 'X-Api-Key: 2'")).toMatchObject({
    auth: { type: "basic" },
    headers: { "X-Api-Key": "2" },
  });
});

test("an argument is no credential, nor is a token that turns pages", () => {
  expect(taken("curl 'a.example?token={{token}}&page_token=x&pageToken=y'")).toEqual({
    auth: undefined,
    headers: {},
    query: { token: "{{token}}", page_token: "x", pageToken: "y" },
  });
});
