// Seed 003's two examples, made from nothing: by mouse on PostgreSQL, and with no mouse at all on SQLite, in Korean. What is
// saved is called at once by an MCP client of others.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBrowser, Tab } from "./browser";
import { Agent } from "./mcp";
import { behind, drag } from "./pointer";
import { seeded } from "./postgres";
import { Toolcrib } from "./toolcrib";

const QUERY =
  "SELECT u.user_nm, l.max_count FROM h_user u JOIN h_mcp_tool_limit l ON u.uid = l.target_id " +
  "WHERE u.user_nm = :user_name AND l.target_type = 'USER'";

let server: Toolcrib;
let browser: Browser;
let agent: Agent;

beforeEach(async () => {
  const postgres = await seeded();
  server = await Toolcrib.start((workspace) => {
    writeFileSync(join(workspace, "tools.json"), '{"version": 1, "tools": []}');
    appendFileSync(join(workspace, "toolcrib.toml"), `\n[sources.shop]\nkind = "postgres"\nurl = "${postgres}"\n`);
  });
  browser = await openBrowser();
  agent = await Agent.connect(server);
});

afterEach(async () => {
  await agent?.close();
  await browser?.close();
  await server?.end();
});

/** What the examples are for, asked by somebody's agent. */
async function bothWork() {
  expect(JSON.parse(await agent.call("get_user_daily_limit", { user_name: "hong" }))).toEqual({
    user_nm: "hong",
    max_count: 50,
  });
  expect(await agent.call("get_user_daily_limit", { user_name: "' OR '1'='1" })).toBe("null");
  // In the order that they were put in.
  const { inputSchema } = (await agent.tool("multiply_numbers"))!;
  expect(Object.keys(inputSchema.properties ?? {})).toEqual(["num1", "num2"]);
  expect(await agent.call("multiply_numbers", { num1: 5, num2: 3 })).toBe("15");
}

const isSaved = (page: Page, name: string) => page.waitForURL((url) => url.pathname === `/tools/${name}`);

test("by mouse, with tables and columns dropped into the query", { timeout: 120_000 }, async () => {
  const tab = await Tab.open(browser);
  const { page } = tab;
  const click = (name: string) => page.getByRole("button", { name, exact: true }).click();
  const field = (name: string) => page.getByRole("textbox", { name, exact: true });
  const result = page.getByTestId("result");
  await tab.logIn(server.loginLink());
  await page.getByRole("navigation").getByRole("link", { name: "Custom Tools" }).click();

  await page.getByRole("link", { name: "New tool" }).click();
  await field("Name").fill("get_user_daily_limit");
  await field("Description for agents").fill("특정 사용자의 일일 제한량을 조회합니다.");
  await click("Next");
  await click("Add parameter");
  await field("Name of parameter 1").fill("user_name");
  await field("Description of user_name").fill("Target User");
  await click("Next");
  await page.getByRole("combobox", { name: "Data source" }).selectOption("shop");

  const tables = page.getByRole("region", { name: "Tables" });
  const column = (name: string) => tables.getByRole("button", { name: new RegExp(`^${name} `) });
  const query = field("SQL query");
  await query.click();
  await page.keyboard.type("SELECT u., l.max_count FROM ");
  // Whoever drops something sees it there before they go on.
  const drop = async (what: Locator, letters: string, name: string) => {
    await drag(page, what, () => behind(query, letters));
    await expect.poll(() => query.textContent()).toContain(letters + name);
  };
  await drop(tables.getByRole("button", { name: "h_user", exact: true }), "FROM ", "h_user");
  await page.keyboard.type(" u JOIN ");
  await drop(tables.getByRole("button", { name: "h_mcp_tool_limit", exact: true }), "JOIN ", "h_mcp_tool_limit");
  await page.keyboard.type(" l ON u.uid = l.");
  await click("Columns of h_mcp_tool_limit");
  await drop(column("target_id"), "= l.", "target_id");
  await page.keyboard.type(" WHERE u.user_nm = :user");
  await page.getByRole("option", { name: /^user_name/ }).click();
  await page.keyboard.type(" AND l.target_type = 'USER'");
  await click("Columns of h_user");
  await drop(column("user_nm"), "SELECT u.", "user_nm");
  expect(await query.textContent()).toBe(QUERY);
  await page.getByText("Result, bounds, writing").click();
  await page.getByLabel("What comes back").selectOption("row");

  await click("Test run");
  await field("user_name text").fill("hong");
  await click("Test run");
  await result.getByRole("cell", { name: "50" }).waitFor();
  await click("Save");
  await isSaved(page, "get_user_daily_limit");

  await page.getByRole("navigation").getByRole("link", { name: "Custom Tools" }).click();
  await page.getByRole("link", { name: "New tool" }).click();
  await field("Name").fill("multiply_numbers");
  await field("Description for agents").fill("두 숫자를 입력받아 곱한 결과를 반환합니다.");
  await click("Python expression");
  await click("Next");
  await click("Add parameter");
  await field("Name of parameter 1").fill("num2");
  await click("Add parameter");
  await field("Name of parameter 2").fill("num1");
  for (const name of ["num1", "num2"]) await page.getByLabel(`Type of ${name}`).selectOption("number");
  const handle = (name: string) => page.getByRole("button", { name: `Move ${name}`, exact: true });
  await drag(page, handle("num1"), handle("num2"));
  await click("Next");
  await field("Python expression").click();
  await page.keyboard.type("num1 * num2");
  await click("Test run");
  await field("num1 number").fill("5");
  await field("num2 number").fill("3");
  await click("Test run");
  await result.getByText("15", { exact: true }).waitFor();
  await click("Save");
  await isSaved(page, "multiply_numbers");
  await bothWork();

  // Switched off, no agent sees it any more; and back again.
  await page.getByRole("navigation").getByRole("link", { name: "Custom Tools" }).click();
  await page.getByRole("switch", { name: /^multiply_numbers/ }).click();
  await expect.poll(() => agent.tool("multiply_numbers")).toBeUndefined();
  await click("Undo");
  await expect.poll(() => agent.tool("multiply_numbers")).toBeDefined();
  tab.quiet();
});

/** Goes on with Tab until this has the focus: whoever has no mouse gets there so. */
async function reach(page: Page, what: Locator, key: "Tab" | "Shift+Tab" = "Tab") {
  await what.waitFor();
  for (let tries = 0; tries < 300; tries += 1) {
    if (await what.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`no key gets to ${what}`);
}

test("with the keyboard alone, in Korean", { timeout: 120_000 }, async () => {
  const tab = await Tab.open(browser, { language: "ko", theme: "dark" });
  const { page } = tab;
  const keys = page.keyboard;
  const field = (name: string) => page.getByRole("textbox", { name, exact: true });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const press = async (name: string) => {
    await reach(page, button(name));
    await keys.press("Enter");
  };
  const write = async (into: Locator, text: string) => {
    await reach(page, into);
    await keys.type(text);
  };
  const result = page.getByTestId("result");
  await page.goto(server.loginLink());
  await reach(page, page.getByRole("button"));
  await keys.press("Enter");
  await page.waitForURL((url) => url.pathname === "/");
  await tab.settled();

  await keys.press("g");
  await keys.press("t");
  await page.getByRole("heading", { name: "사용자 정의 도구" }).waitFor();
  await keys.press("n");
  await write(field("이름"), "get_user_daily_limit");
  await write(field("에이전트용 설명"), "특정 사용자의 일일 제한량을 조회합니다.");
  await press("다음");
  await press("다음");
  await write(page.getByRole("combobox", { name: "데이터 소스" }), "demo");
  const query = field("SQL 쿼리");
  const table = (name: string) =>
    page.getByRole("region", { name: "테이블" }).getByRole("button", { name, exact: true });
  await write(query, "SELECT u.user_nm, l.max_count FROM ");
  // Whoever puts something in sees it there, and the caret behind it, before they go on.
  const putIn = async (name: string) => {
    await reach(page, table(name), "Shift+Tab");
    await keys.press("Enter");
    await expect.poll(() => query.textContent(), { timeout: 15_000 }).toContain(name);
    await expect.poll(() => query.evaluate((one) => one === document.activeElement), { timeout: 15_000 }).toBe(true);
  };
  await putIn("h_user");
  await keys.type(" u JOIN ");
  await putIn("h_mcp_tool_limit");
  await keys.type(" l ON u.uid = l.target_id WHERE u.user_nm = :user_name AND l.target_type = 'USER'");
  await expect.poll(() => query.textContent(), { timeout: 15_000 }).toBe(QUERY);
  await press("SQL에서 찾은 파라미터 1개 추가");
  await reach(page, page.getByText("결과, 한도, 쓰기"));
  await keys.press("Enter");
  await reach(page, page.getByLabel("반환 내용"));
  await keys.press("ArrowDown");

  await press("테스트 실행");
  await write(field("user_name 문자열"), "hong");
  await keys.press("Control+Enter");
  await result.getByRole("cell", { name: "50" }).waitFor();
  await keys.press("Control+s");
  await isSaved(page, "get_user_daily_limit");

  await keys.press("Control+k");
  await page.getByRole("option", { name: "새 도구", exact: true }).waitFor();
  await keys.type("새 도구");
  await keys.press("Enter");
  await write(field("이름"), "multiply_numbers");
  await write(field("에이전트용 설명"), "두 숫자를 입력받아 곱한 결과를 반환합니다.");
  await press("Python 식");
  await press("다음");
  await press("파라미터 추가");
  for (const name of ["num2", "num1"]) {
    await reach(page, field(`파라미터 ${name === "num2" ? 1 : 2}의 이름`));
    await keys.type(name);
    await reach(page, page.getByLabel(`${name}의 타입`));
    await keys.press("ArrowDown");
    if (name === "num2") await press("파라미터 추가");
  }
  await keys.press("Alt+ArrowUp");
  await press("다음");
  await write(field("Python 식"), "num1 * num2");
  await press("테스트 실행");
  await write(field("num1 숫자"), "5");
  await write(field("num2 숫자"), "3");
  await keys.press("Control+Enter");
  await result.getByText("15", { exact: true }).waitFor();
  await keys.press("Control+s");
  await isSaved(page, "multiply_numbers");
  await bothWork();
  tab.quiet();
});
