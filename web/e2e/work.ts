// How much a page's main thread works for one thing that somebody does.
//
// What is measured is Chromium's own sum over every task of the page's main thread (script, style, layout, painting, handling of
// input and of answers), in the processor time of that thread: what others do on the machine at the same time is not the page's
// work. It begins with the input and ends when the page waits for nothing any more, so that what follows an answer of the
// server counts as well. `longest` is the longest single task by the clock, as the browser's own list of long tasks has it: what
// somebody would feel as a jerk. It is shown, and no goal, since on a busy machine it counts the others too.

import type { CDPSession, Page } from "playwright-core";

export type Work = { total: number; script: number; layout: number; longest: number };

const QUIET_MS = 250;

export class Meter {
  /** How often the page was looked at, and what each look costs it: that is our work, and taken off. */
  private looks = 0;
  private perLook = 0;

  private constructor(
    private readonly page: Page,
    private readonly cdp: CDPSession,
  ) {}

  static async of(page: Page): Promise<Meter> {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    return new Meter(page, cdp);
  }

  /** What a look costs on a page that does nothing. */
  private async calibrate() {
    const before = (await this.spent()).total;
    for (let look = 0; look < 8; look++) await this.look();
    this.perLook = ((await this.spent()).total - before) / 8;
  }

  private async look(): Promise<{ total: number; isLoading: boolean }> {
    this.looks += 1;
    const isLoading = await this.page.evaluate(
      () => !!document.querySelector("main [data-status=loading], main [aria-busy=true]"),
    );
    return { total: (await this.spent()).total, isLoading };
  }

  /** Has the page write down its long tasks, from its beginning. */
  static async watch(page: Page) {
    await page.addInitScript(() => {
      const all: number[] = [];
      Object.assign(window, { longTasks: all });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) all.push(entry.duration);
      }).observe({ type: "longtask", buffered: true });
    });
  }

  private async spent() {
    const { metrics } = await this.cdp.send("Performance.getMetrics");
    const of = (name: string) => 1000 * (metrics.find((metric) => metric.name === name)?.value ?? 0);
    return {
      total: of("TaskDuration"),
      script: of("ScriptDuration"),
      layout: of("RecalcStyleDuration") + of("LayoutDuration"),
    };
  }

  /** Until the main thread has had next to nothing to do for a while and nothing on the page is being loaded. */
  async quiet() {
    let before = (await this.look()).total;
    for (;;) {
      await this.page.waitForTimeout(QUIET_MS);
      const { total, isLoading } = await this.look();
      if (total - before < 4 && !isLoading) return;
      before = total;
    }
  }

  /** What `act` makes the page do until it is quiet again. */
  async during(act: () => Promise<unknown>): Promise<Work> {
    await this.quiet();
    await this.calibrate();
    await this.page.evaluate(() => {
      (window as never as { longTasks: number[] }).longTasks.length = 0;
    });
    const before = await this.spent();
    this.looks = 0;
    await act();
    await this.quiet();
    const after = await this.spent();
    const long = await this.page.evaluate(() => (window as never as { longTasks: number[] }).longTasks);
    return {
      total: after.total - before.total - this.looks * this.perLook,
      script: after.script - before.script,
      layout: after.layout - before.layout,
      longest: Math.max(0, ...long),
    };
  }
}
