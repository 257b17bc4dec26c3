// Every page in both themes and both languages: axe finds nothing, the console is quiet, the strict policy is on.

import AxeBuilder from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { addresses, type Demo, fill } from "./demo";
import { Toolcrib } from "./toolcrib";

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

let server: Toolcrib;
let browser: Browser;
let demo: Demo;
let tab: Tab;

beforeAll(async () => {
  server = await Toolcrib.start();
  demo = await fill(server);
  browser = await openBrowser();
  tab = await Tab.open(browser);
  await tab.logIn(server.loginLink());
  tab.complaints.length = 0;
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

for (const theme of ["light", "dark"] as const) {
  for (const language of ["en", "ko"] as const) {
    test(`${theme}, ${language}`, { timeout: 600_000 }, async () => {
      const { page } = tab;
      await page.evaluate(
        ([theme, language]) => {
          localStorage.setItem("toolcrib.theme", theme);
          localStorage.setItem("toolcrib.language", language);
        },
        [theme, language] as const,
      );
      const found: string[] = [];
      for (const address of addresses(demo)) {
        await page.goto(server.url + address);
        await tab.settled();
        const { violations } = await new AxeBuilder({ page: page as never }).withTags(RULES).analyze();
        for (const one of violations) {
          found.push(`${address}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`);
        }
      }
      expect(found).toEqual([]);
      tab.quiet();
    });
  }
}
