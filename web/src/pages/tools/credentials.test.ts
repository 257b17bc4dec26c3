// Credentials are known by their names, and not left behind in a browser.

import { beforeEach, expect, test } from "vitest";
import { isBare, keysIn, rekeyed, secretName, unkeyed } from "./credentials";
import { drafts, emptyDraft, withStored } from "./draft";

beforeEach(() => localStorage.clear());

const config = {
  base_url: "https://a.example",
  headers: { "X-API-Key": "tck_1", Accept: "text/plain", Cookie: { $secret: "shop" } },
  query: { key: "k", city: "Seoul", token: "{{token}}" },
  body: { user: "me", login: { password: "pw" }, list: [{ client_secret: "cs" }] },
  env: { DB_PASSWORD: "pw", HOME: "/tmp" },
};

test("credentials are found in every place, and nothing else is", () => {
  expect(keysIn(config)).toEqual([
    "headers.X-API-Key",
    "query.key",
    "env.DB_PASSWORD",
    "body.login.password",
    "body.list.0.client_secret",
  ]);
  expect(isBare("Content-Type", "x", "header")).toBe(false);
  expect(isBare("key", "x", "header")).toBe(false);
  expect(isBare("max_tokens", "5", "body")).toBe(false);
});

test("without them a config is the same but for their values, which come back from what is stored", () => {
  const left = unkeyed(config);
  expect(JSON.stringify(left)).not.toMatch(/tck_1|"k"|"pw"|"cs"/);
  expect(left.query).toEqual({ key: "", city: "Seoul", token: "{{token}}" });
  expect(rekeyed(left, config)).toEqual(config);
  // What was taken away stays away, and what was typed anew counts.
  expect(rekeyed({ headers: { "X-API-Key": "other" } }, config)).toEqual({ headers: { "X-API-Key": "other" } });
});

test("a draft is kept without them, also those of another kind", () => {
  const draft = { ...emptyDraft(), kind: "http" as const, config, others: { shell: { env: { TOKEN: "tck_2" } } } };
  drafts.write("a", draft);
  expect(localStorage.getItem("toolcrib.draft.a")).not.toMatch(/tck_/);
  expect(withStored(drafts.read("a")!, draft).config).toEqual(config);
});

test("a secret is called after the tool, and takes no name that is taken", () => {
  expect(secretName("get_order", "X-API-Key", [])).toBe("get_order_x_api_key");
  expect(secretName("", "Cookie", ["cookie"])).toBe("cookie_2");
});
