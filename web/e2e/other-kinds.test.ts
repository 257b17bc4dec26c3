// A tool of the other kinds: a request, a script, a tool of another server. Each is made in the page, tried, and called by an
// MCP client. Then a past call is tried again, and tables and servers lead to new tools.

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { Agent, everything } from "./mcp";
import { set, Toolcrib } from "./toolcrib";

let orders: Server;
let server: Toolcrib;
let browser: Browser;
let agent: Agent;
let tab: Tab;

/** Orders of somebody's shop, for those who say which team they are. */
const shop = () =>
  createServer((request, response) => {
    const asked = new URL(request.url ?? "", "http://shop");
    const order = { id: asked.pathname.split("/").pop(), currency: asked.searchParams.get("currency") };
    response.writeHead(request.headers["x-team"] === "e2e" ? 200 : 403, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ data: order }));
  });

const place = () => `127.0.0.1:${(orders.address() as AddressInfo).port}`;

beforeAll(async () => {
  orders = shop();
  await new Promise<void>((listens) => orders.listen(0, "127.0.0.1", listens));
  server = await Toolcrib.start((workspace) => {
    // Addresses of this machine are kept from tools unless an operator allows them.
    set(workspace, "#allow = []", `allow = ["${place()}"]`);
    writeFileSync(join(workspace, "mcp.json"), JSON.stringify({ mcpServers: { everything: everything() } }));
    mkdirSync(join(workspace, "tools"));
    writeFileSync(join(workspace, "tools/greet.py"), 'def execute(name):\n    return {"greeting": f"안녕, {name}!"}\n');
  });
  agent = await Agent.connect(server);
  browser = await openBrowser();
  tab = await Tab.open(browser);
  await tab.logIn(server.loginLink());
});

afterAll(async () => {
  await agent?.close();
  await browser?.close();
  await server?.end();
  orders?.close();
});

const click = (name: string) => tab.page.getByRole("button", { name, exact: true }).click();
const field = (name: string) => tab.page.getByRole("textbox", { name, exact: true });
const saved = (name: string) => tab.page.waitForURL((url) => url.pathname === `/tools/${name}`);

async function begin(name: string, description: string, kind: string) {
  await tab.page.goto(`${server.url}/tools/new`);
  await field("Name").fill(name);
  await field("Description for agents").fill(description);
  await click(kind);
}

async function tryIt(args: Record<string, string>) {
  await click("Test run");
  for (const [name, value] of Object.entries(args)) await field(`${name} text`).fill(value);
  await click("Test run");
  await tab.page.locator("[data-testid=result][data-status=success]").waitFor();
}

test("a request, from a command line that was pasted", async () => {
  await begin("get_order", "Looks up an order of the shop. Use it when an order is asked for.", "HTTP");
  await click("Next");
  await click("Next");
  await click("Paste cURL");
  await field("cURL command").fill(`curl 'http://${place()}/orders/{{id}}?currency={{currency}}' -H 'X-Team: e2e'`);
  await click("Take it over");
  await click("Add 2 parameters");
  await field("Part of the response to return").fill("/data");
  await tryIt({ id: "7", currency: "KRW" });
  await tab.page.getByTestId("result").getByRole("cell", { name: "KRW" }).waitFor();
  await click("Save");
  await saved("get_order");
  expect(JSON.parse(await agent.call("get_order", { id: "8", currency: "EUR" }))).toEqual({ id: "8", currency: "EUR" });
  tab.quiet();
});

test("a script of the workspace", async () => {
  await begin("greet", "Greets somebody in Korean. Use it to welcome a person.", "Python script");
  await click("Next");
  await click("Add parameter");
  await field("Name of parameter 1").fill("name");
  await click("Next");
  await field("Script in the workspace").fill("tools/greet.py");
  await tryIt({ name: "hong" });
  await click("Save");
  await saved("greet");
  expect(JSON.parse(await agent.call("greet", { name: "kim" }))).toEqual({ greeting: "안녕, kim!" });
  tab.quiet();
});

test("a tool of another server, under a name of one's own", async () => {
  const { page } = tab;
  await page.goto(`${server.url}/servers/everything?tab=tools`);
  const offer = page.getByRole("listitem").filter({ hasText: /^get-sum/ });
  await offer.getByRole("link", { name: "Make a tool of it" }).click();
  await field("Name").fill("add_up");
  expect(await field("Description for agents").inputValue()).toBe("Returns the sum of two numbers");
  await click("Test run");
  await field("a number").fill("20");
  await field("b number").fill("22");
  await click("Test run");
  await page.getByTestId("result").getByText("The sum of 20 and 22 is 42.").waitFor();
  await click("Save");
  await saved("add_up");
  expect(await agent.call("add_up", { a: 1, b: 2 })).toBe("The sum of 1 and 2 is 3.");
  tab.quiet();
});

test("a past call is tried again with what it was given", async () => {
  const { page } = tab;
  await agent.call("greet", { name: "다시" });
  const past = () => server.api("GET", "/executions?tool=greet&limit=1").then(({ items }) => items[0]);
  // The log is written behind the answer.
  await expect.poll(async () => (await past())?.arguments).toEqual({ name: "다시" });
  await page.goto(`${server.url}/executions/${(await past()).id}`);
  await page.getByRole("link", { name: "Open in tester" }).click();
  await expect.poll(() => field("name text").inputValue()).toBe("다시");
  await click("Test run");
  await page.getByTestId("result").getByText("안녕, 다시!").first().waitFor();
  tab.quiet();
});

test("a table leads to a tool that asks it", async () => {
  const { page } = tab;
  await page.goto(`${server.url}/sources/demo?tab=schema`);
  await page.getByRole("link", { name: /table .*h_user$/ }).click();
  await page.getByRole("tab", { name: "Logic" }).click();
  await expect.poll(() => field("SQL query").textContent()).toBe("SELECT * FROM h_user");
  expect(await page.getByRole("combobox", { name: "Data source" }).inputValue()).toBe("demo");
  tab.quiet();
});
