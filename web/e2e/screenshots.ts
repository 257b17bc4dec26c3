// Takes a picture of every page in both themes and languages, wide and narrow, into web/screenshots/ (`make screenshots`).

import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { addresses, fill } from "./demo";
import { Toolcrib } from "./toolcrib";

const folder = new URL("../screenshots/", import.meta.url).pathname;

test("pictures", { timeout: 1_200_000 }, async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const server = await Toolcrib.start();
  const browser = await openBrowser();
  try {
    const demo = await fill(server);
    const tab = await Tab.open(browser);
    await tab.logIn(server.loginLink());
    for (const [theme, language] of ["light", "dark"].flatMap((theme) =>
      ["en", "ko"].map((one) => [theme, one] as const),
    )) {
      await tab.page.evaluate(
        ([theme, language]) => {
          localStorage.setItem("toolcrib.theme", theme);
          localStorage.setItem("toolcrib.language", language);
        },
        [theme, language] as const,
      );
      for (const width of [1440, 375]) {
        await tab.page.setViewportSize({ width, height: width === 375 ? 812 : 900 });
        for (const address of addresses(demo)) {
          await tab.page.goto(server.url + address);
          await tab.settled();
          const name =
            address === "/"
              ? "home"
              : address
                  .slice(1)
                  .replaceAll(/[/?=]/g, "-")
                  .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "one");
          await tab.page.screenshot({ path: `${folder}${name}-${theme}-${language}-${width}.png` });
        }
      }
    }
    const pages = addresses(demo).length;
    const count = readdirSync(folder).length;
    console.log(`pictures: ${count} of ${pages} pages, in web/screenshots`);
    // Two themes, two languages, two widths.
    expect(count).toBe(pages * 8);
    tab.quiet();
  } finally {
    await browser.close();
    await server.end();
  }
});
