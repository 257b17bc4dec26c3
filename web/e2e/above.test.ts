// axe where pages look otherwise: on a narrow screen, and with a menu, a drawer or a dialog above them. `everywhere` looks at the
// pages themselves.

import AxeBuilder from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { addresses, type Demo, fill } from "./demo";
import { Toolcrib } from "./toolcrib";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const NARROW = { width: 375, height: 812 };
const WIDE = { width: 1440, height: 900 };

let server: Toolcrib;
let browser: Browser;
let demo: Demo;

beforeAll(async () => {
  server = await Toolcrib.start();
  demo = await fill(server);
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

async function open(look: Parameters<typeof Tab.open>[1]): Promise<Tab> {
  const tab = await Tab.open(browser, look);
  await tab.logIn(await server.newLoginLink());
  await tab.settled();
  tab.complaints.length = 0;
  return tab;
}

async function violationsAt(page: Page, where: string): Promise<string[]> {
  // What fades in is not yet as it will be seen.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)));
  const { violations } = await new AxeBuilder({ page: page as never }).withTags(RULES).analyze();
  return violations.map(
    (one) => `${where}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`,
  );
}

// Each takes a minute or two: both only where the whole page is shown.
const LOOKS = [
  ["light", "ko"],
  ["dark", "en"],
] as const;

for (const [theme, language] of process.env.E2E_WHOLE ? LOOKS : LOOKS.slice(0, 1)) {
  test(`every page at ${NARROW.width} px, ${theme}, ${language}`, { timeout: 600_000 }, async () => {
    const tab = await open({ ...NARROW, theme, language });
    const found: string[] = [];
    for (const address of addresses(demo)) {
      await tab.page.goto(server.url + address);
      await tab.settled();
      found.push(...(await violationsAt(tab.page, address)));
      const tooWide = await tab.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (tooWide > 0) found.push(`${address}: ${tooWide} px too wide`);
    }
    expect(found).toEqual([]);
    tab.quiet();
    await tab.close();
  });
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first().click();
const item = (page: Page, name: string) => page.getByRole("menuitem", { name, exact: true }).click();

type Above = { name: string; at: string; role: "dialog" | "alertdialog" | "menu"; show: (page: Page) => Promise<void> };

const ABOVE: Above[] = [
  { name: "the menu of the account", at: "/", role: "menu", show: (page) => button(page, "Account: admin") },
  { name: "the palette", at: "/", role: "dialog", show: (page) => page.keyboard.press("Control+K") },
  { name: "the keyboard's keys", at: "/", role: "dialog", show: (page) => page.keyboard.press("?") },
  {
    name: "Connect",
    at: "/",
    role: "dialog",
    show: async (page) => {
      await button(page, "Account: admin");
      await item(page, "Connect");
    },
  },
  { name: "the menu of a tool", at: "/tools", role: "menu", show: (page) => button(page, "More for calculator") },
  {
    name: "a question before something is deleted",
    // Lists draw only what is in sight.
    at: "/tools?q=multiply_numbers",
    role: "alertdialog",
    show: async (page) => {
      await button(page, "More for multiply_numbers");
      await item(page, "Delete");
    },
  },
  {
    name: "a test written by hand",
    at: "/tools/multiply_numbers?step=test",
    role: "dialog",
    show: (page) => button(page, "Write a test"),
  },
  { name: "a new key", at: "/keys", role: "dialog", show: (page) => button(page, "New key") },
  { name: "a new user", at: "/users", role: "dialog", show: (page) => button(page, "New user") },
  { name: "a limit", at: "/limits", role: "dialog", show: (page) => button(page, "Set a limit") },
];

for (const [width, look] of [
  ["wide", { ...WIDE, theme: "light" }],
  ["narrow", { ...NARROW, theme: "dark" }],
] as const) {
  test(`what stands above a page, ${width}`, { timeout: 600_000 }, async () => {
    const tab = await open(look);
    const found: string[] = [];
    for (const { name, at, role, show } of ABOVE) {
      await tab.page.goto(server.url + at);
      await tab.settled();
      await show(tab.page);
      await tab.page.getByRole(role).first().waitFor();
      found.push(...(await violationsAt(tab.page, name)));
    }
    expect(found).toEqual([]);
    tab.quiet();
    await tab.close();
  });
}

test("the menu of a narrow screen", async () => {
  const tab = await open({ ...NARROW, theme: "light", language: "ko" });
  await tab.page.getByRole("banner").getByRole("button").first().click();
  await tab.page.getByRole("dialog").waitFor();
  expect(await violationsAt(tab.page, "menu")).toEqual([]);
  tab.quiet();
  await tab.close();
});
