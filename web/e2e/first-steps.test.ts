// What a newcomer does first: the link from the terminal, the pages, the languages, with the strict policy on.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { Toolcrib } from "./toolcrib";

let server: Toolcrib;
let browser: Browser;

beforeAll(async () => {
  server = await Toolcrib.start();
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

test("without a session the page asks to log in, and the link of the terminal lets in", async () => {
  const tab = await Tab.open(browser);
  await tab.page.goto(server.url);
  await tab.page.waitForURL(/\/login$/);
  // The question who one is was answered with 401, which browsers write to the console.
  tab.complaints.length = 0;
  await tab.logIn(server.loginLink());
  await tab.page.getByRole("navigation").getByRole("link", { name: "Custom Tools" }).click();
  await tab.page.getByText("multiply_numbers").first().waitFor();
  tab.quiet();
  await tab.close();
});

test("whoever had to log in first goes on where they wanted to go", async () => {
  const tab = await Tab.open(browser);
  await tab.page.goto(`${server.url}/executions?status=error`);
  await tab.page.waitForURL(/\/login$/);
  tab.complaints.length = 0;
  await tab.page.goto(await server.newLoginLink());
  await tab.page.getByRole("button").click();
  await tab.page.waitForURL((url) => url.pathname === "/executions" && url.search === "?status=error");
  tab.quiet();
  await tab.close();
});

test("a tool that was tried while logged in ticks its step", async () => {
  const tab = await Tab.open(browser);
  await tab.logIn(await server.newLoginLink());
  const step = tab.page.locator("li[data-done]").nth(2);
  await step.waitFor();
  expect(await step.getAttribute("data-done")).toBe("false");
  const answer = await tab.page.evaluate(async () => {
    const body = JSON.stringify({ arguments: { expression: "6 * 7" } });
    const headers = { "content-type": "application/json" };
    return (await fetch("/api/v1/tools/calculator/call", { method: "POST", headers, body })).status;
  });
  expect(answer).toBe(200);
  await tab.page.reload();
  await tab.page.locator('li[data-done="true"]').nth(1).waitFor();
  expect(await step.getAttribute("data-done")).toBe("true");
  tab.quiet();
  await tab.close();
});

test("its policy lets no foreign script or style in, and a file that is gone is not answered with a page", async () => {
  const page = await fetch(server.url, { headers: { accept: "text/html" } });
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/script-src 'self' 'nonce-\w+';/);
  expect(policy).not.toContain("unsafe");
  const gone = await fetch(`${server.url}/assets/gone-123.js`, { headers: { accept: "text/html" } });
  expect(gone.status).toBe(404);
  expect(gone.headers.get("content-type")).toContain("application/json");
});
