// A real Chromium. Every page is watched: an error in its console, or something its policy blocks, fails the test.

import { type Browser, type BrowserContext, type ConsoleMessage, chromium, type Page } from "playwright-core";
import { expect } from "vitest";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });

export type Look = { theme?: "light" | "dark"; language?: "en" | "ko"; width?: number; height?: number };

/** A definition that somebody is still writing is refused while it is checked, which browsers write down. */
const isHalfWritten = (message: ConsoleMessage) =>
  message.location().url.includes("dry_run=true") && message.text().includes("422");

export class Tab {
  readonly complaints: string[] = [];
  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  static async open(
    browser: Browser,
    { theme = "light", language = "en", width = 1440, height = 900 }: Look = {},
  ): Promise<Tab> {
    const context = await browser.newContext({ viewport: { width, height } });
    // What has not come by then does not come: better told soon than late.
    context.setDefaultTimeout(15_000);
    await context.addInitScript(
      ([theme, language]) => {
        // A choice that was made on the page is kept.
        if (!localStorage.getItem("toolcrib.theme")) localStorage.setItem("toolcrib.theme", theme as string);
        if (!localStorage.getItem("toolcrib.language")) localStorage.setItem("toolcrib.language", language as string);
      },
      [theme, language],
    );
    const tab = new Tab(context, await context.newPage());
    tab.page.on("console", (message) => {
      if (message.type() === "error" && !isHalfWritten(message))
        tab.complaints.push(`${message.text()} (${message.location().url}, at ${tab.page.url()})`);
    });
    tab.page.on("pageerror", (error) => tab.complaints.push(error.message));
    return tab;
  }

  async logIn(link: string) {
    await this.page.goto(link);
    await this.page.getByRole("button").click();
    await this.page.waitForURL((url) => url.pathname === "/");
  }

  /** The page is there and waits for nothing. The network may go on: a run that is followed is a request without an end. */
  async settled() {
    await this.page.locator("main h1").waitFor();
    await this.page.waitForFunction(() => !document.querySelector("main [data-status=loading]"));
  }

  /** Nothing was complained about; call it at the end of each test. */
  quiet() {
    expect(this.complaints).toEqual([]);
  }

  close = () => this.context.close();
}
