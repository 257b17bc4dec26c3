// A source's form keeps what it does not show in the clear, and sends nothing that belongs to the other kind.

import { expect, test } from "vitest";
import { bodyOf, draftOf, withoutSecrets } from "./draft";
import type { SourceView } from "./queries";

const stored = {
  name: "shop",
  kind: "postgres",
  url: "postgres://reader@db/shop",
  password: { set: true, last4: "word" },
  search_path: ["public"],
  functions: [],
  authors: "everyone",
  allow_write: true,
  allow_superuser: false,
  pgbouncer: true,
  connections_max: 4,
} as unknown as SourceView;

test("what nobody touched goes back with the mask of its password", () => {
  expect(bodyOf(draftOf(stored))).toEqual({
    name: "shop",
    kind: "postgres",
    url: "postgres://reader@db/shop",
    password: { set: true, last4: "word" },
    search_path: ["public"],
    authors: "everyone",
    allow_write: true,
    allow_superuser: false,
    pgbouncer: true,
    connections_max: 4,
  });
});

test("a file has no password and no schemas; a wrong number is left for the server", () => {
  const draft = { ...draftOf(stored), kind: "sqlite" as const, path: " a.db ", connectionsMax: "many" };
  expect(bodyOf(draft)).toEqual({
    name: "shop",
    kind: "sqlite",
    path: "a.db",
    authors: "everyone",
    allow_write: true,
    connections_max: "many",
  });
});

test("no password stays in the browser, neither its own nor one in the address", () => {
  const typed = { ...draftOf(stored), password: "open sesame", url: "postgres://reader:open%20sesame@db:5432/shop" };
  expect(withoutSecrets(typed, draftOf())).toMatchObject({ password: "", url: "postgres://reader@db:5432/shop" });
  const masked = withoutSecrets(draftOf(stored), draftOf(stored));
  expect(masked.password).toEqual({ set: true, last4: "word" });
  expect(withoutSecrets({ ...typed, password: "${SHOP_PASSWORD}" }, draftOf()).password).toBe("${SHOP_PASSWORD}");
});

test("a password that was typed and not kept leaves the stored one, one that was taken away stays away", () => {
  const typed = { ...draftOf(stored), password: "open sesame" };
  expect(withoutSecrets(typed, draftOf(stored)).password).toEqual({ set: true, last4: "word" });
  expect(withoutSecrets({ ...typed, password: "" }, draftOf(stored)).password).toBe("");
});
