// Every address that there is, is one that the tests in a browser look at, and so is one that there is not.

import { expect, test } from "vitest";
import { addresses } from "../e2e/demo";
import { router } from "./routes";

const paths = Object.keys(router.routesByPath);
const visited = addresses({ run: "r1", execution: "e1" }).map((address) => address.split("?")[0]!);

/** The path that an address belongs to: one that says it letter by letter comes before one with a name in it. */
const pathOf = (address: string) =>
  paths.includes(address)
    ? address
    : paths.find((path) => new RegExp(`^${path.replace(/\$\w+/g, "[^/]+")}$`).test(address));

test("no address is left out", () => {
  expect(paths.length).toBeGreaterThan(20);
  const seen = new Set(visited.map(pathOf));
  expect(paths.filter((path) => !seen.has(path))).toEqual([]);
});

test("an address that leads nowhere is looked at, too", () => {
  // The pages to log in are the server's own.
  const nowhere = visited.filter((address) => !pathOf(address) && !address.startsWith("/login"));
  expect(nowhere).toHaveLength(1);
});
