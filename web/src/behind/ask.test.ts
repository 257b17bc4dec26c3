// A worker that cannot be loaded says nothing about the server: its file may be gone after an upgrade.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Unreachable } from "../api/errors";
import { connection } from "../api/session";
import { PageMissing } from "../stale";

let workers: EventTarget[] = [];
const asks: Array<{ id: number }> = [];
class FakeWorker extends EventTarget {
  constructor() {
    super();
    workers.push(this);
  }
  postMessage(order: { id: number }) {
    asks.push(order);
  }
}

beforeEach(() => {
  workers = [];
  asks.length = 0;
  sessionStorage.clear();
  vi.resetModules();
  vi.stubGlobal("Worker", FakeWorker);
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response("ok"));
});
afterEach(() => {
  connection.found();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** A question, and what became of it. Modules are fresh, so errors are told by their names. */
async function ask() {
  const { behind } = await import("./ask");
  const session = (await import("../api/session")).connection;
  const reload = vi.spyOn(location, "reload").mockImplementation(() => {});
  const failed = behind("days", { names: [] }, new AbortController().signal).then(
    () => undefined,
    (error: Error) => error,
  );
  return { failed, session, reload };
}

test("one that cannot be loaded leads to the new page, not to a dead server", async () => {
  const { failed, session, reload } = await ask();
  workers[0]!.dispatchEvent(new Event("error"));
  expect((await failed)?.constructor.name).toBe(PageMissing.name);
  expect(session.current().reachable).toBe(true);
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce());
});

test("one that cannot be loaded while the server is away waits for the server, and the page stays", async () => {
  const { failed, session, reload } = await ask();
  vi.mocked(fetch).mockRejectedValue(new TypeError("no server"));
  workers[0]!.dispatchEvent(new Event("error"));
  expect((await failed)?.constructor.name).toBe(Unreachable.name);
  expect(session.current().reachable).toBe(false);
  expect(reload).not.toHaveBeenCalled();
});

test("one that broke is told in its own words", async () => {
  const { failed, session, reload } = await ask();
  workers[0]!.dispatchEvent(Object.assign(new Event("error"), { message: "x is undefined" }));
  expect((await failed)?.message).toBe("x is undefined");
  expect(session.current().reachable).toBe(true);
  expect(reload).not.toHaveBeenCalled();
});

test("one that does not reach the server says so", async () => {
  const { failed, session } = await ask();
  const data = { id: asks[0]!.id, gone: true };
  workers[0]!.dispatchEvent(Object.assign(new Event("message"), { data }));
  expect((await failed)?.constructor.name).toBe(Unreachable.name);
  expect(session.current().reachable).toBe(false);
});
