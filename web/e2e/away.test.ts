// What a tab goes through that stays open: the program is upgraded, it is away for a while, the session ends. Nothing that
// somebody wrote is lost.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { Toolcrib } from "./toolcrib";

const PASSWORD = "correct horse";

let server: Toolcrib;
let browser: Browser;
let tab: Tab;
let page: Page;

beforeAll(async () => {
  server = await Toolcrib.start();
  await server.api("POST", "/users", { name: "kim", role: "admin", password: PASSWORD });
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.end();
});

beforeEach(async () => {
  tab = await Tab.open(browser);
  page = tab.page;
  await page.goto(`${server.url}/login`);
  await page.getByLabel("Name").fill("kim");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL((url) => url.pathname === "/");
  await tab.settled();
  return tab.close;
});

const click = (name: string) => page.getByRole("button", { name, exact: true }).click();
const field = (name: string) => page.getByRole("textbox", { name, exact: true });
const place = (name: string) => page.getByRole("navigation").getByRole("link", { name, exact: true });

/** Somebody is in the middle of a tool. */
async function write(name: string, kind: "SQL" | "Python expression") {
  await place("Custom Tools").click();
  await page.getByRole("link", { name: "New tool" }).click();
  await field("Name").fill(name);
  await field("Description for agents").fill("Doubles a number. Use it when something is doubled.");
  await click(kind);
}

/** From now on the files that this tab has not loaded yet are gone, until it is loaded anew; or for good. */
async function upgrade({ forGood }: { forGood: boolean }): Promise<{ loads: number }> {
  const seen = { loads: 0 };
  page.on("request", (request) => {
    if (request.isNavigationRequest()) seen.loads += 1;
  });
  // As the server itself answers for what it does not have.
  await page.route("**/assets/*", (route) =>
    seen.loads === 0 || (forGood && route.request().url().includes("/assets/list"))
      ? route.continue({ url: `${server.url}/assets/of-another-version.js` })
      : route.fallback(),
  );
  return seen;
}

test("after an upgrade a stale tab loads itself anew, and a draft stays", async () => {
  await write("double_1", "SQL");
  const seen = await upgrade({ forGood: false });
  await click("Next");
  await click("Next");
  await field("SQL query").waitFor();
  expect(seen.loads).toBe(1);
  expect(new URL(page.url()).searchParams.get("step")).toBe("logic");
  await page.getByRole("tab", { name: "Basics" }).click();
  expect(await field("Name").inputValue()).toBe("double_1");
});

test("hovering over a link in a stale tab takes nothing away; going there loads it anew", async () => {
  await place("Agents").click();
  await page.getByRole("link", { name: "New agent" }).first().click();
  await field("Name").fill("half written");
  const seen = await upgrade({ forGood: false });
  const missed = page.waitForResponse((answer) => answer.url().includes("/assets/") && answer.status() === 404);
  await place("Audit log").hover();
  await missed;
  expect(await field("Name").inputValue()).toBe("half written");
  expect(seen.loads).toBe(0);
  await place("Audit log").click();
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
  expect(seen.loads).toBe(1);
});

test("a file that stays away is told, not asked for again and again", async () => {
  const seen = await upgrade({ forGood: true });
  await place("Audit log").click();
  await expect.poll(() => seen.loads).toBe(1);
  await page.getByRole("main").getByRole("alert").waitFor();
  await page.evaluate(() => fetch("/healthz"));
  expect(seen.loads).toBe(1);
  await page.unroute("**/assets/*");
  await click("Try again");
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
});

test("while the server is away a banner says so, drafts stay, and it goes on by itself", async () => {
  await write("double_2", "Python expression");
  await server.stop();
  await click("Save");
  const banner = page.getByText("The server does not answer. It is tried again");
  await banner.waitFor();
  // A page that this tab has not loaded yet: what stands around it stays.
  await place("Audit log").click();
  await click("Leave, keep the draft");
  await page.getByRole("heading", { name: "This page could not be shown" }).waitFor();
  await banner.waitFor();
  await server.serve();
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
  await banner.waitFor({ state: "detached" });

  await place("Custom Tools").click();
  await page.getByRole("link", { name: "New tool" }).click();
  await page.getByText("This is a draft that was not saved.").waitFor();
  expect(await field("Name").inputValue()).toBe("double_2");
  await click("Next");
  await click("Next");
  await field("Python expression").click();
  await page.keyboard.type("2 * 2");
  await click("Save");
  await page.waitForURL((url) => url.pathname === "/tools/double_2");
});

test("a session that has ended is opened again in place, and what was asked for is done", async () => {
  await write("double_3", "Python expression");
  await click("Next");
  await click("Next");
  await field("Python expression").click();
  await page.keyboard.type("2 * 2");
  await page.evaluate(() => Object.assign(window, { isTheSame: true }));
  const cookies = (await tab.context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const ended = await fetch(`${server.url}/api/v1/logout`, {
    method: "POST",
    headers: { Cookie: cookies, Origin: server.url },
  });
  expect(ended.status).toBe(204);
  await click("Save");
  const dialog = page.getByRole("dialog", { name: "Your session has ended" });
  await dialog.getByLabel("Password").fill("wrong horse");
  await dialog.getByRole("button", { name: "Log in", exact: true }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Log in", exact: true }).click();
  await page.waitForURL((url) => url.pathname === "/tools/double_3");
  await dialog.waitFor({ state: "detached" });
  expect(await page.evaluate(() => "isTheSame" in window)).toBe(true);
  expect((await server.api("GET", "/tools/double_3")).kind).toBe("expression");
});
