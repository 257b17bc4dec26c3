// The real program on a workspace of its own, started for one file of tests and ended with it.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const binary = () => {
  const found = process.env.E2E_BINARY;
  if (!found) throw new Error("E2E_BINARY names no program: run `make e2e`");
  return found;
};

// The server takes settings from its environment, and refuses those it does not know.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TOOLCRIB_")));

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

async function until(isSo: () => boolean | Promise<boolean>) {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Writes a setting into a workspace, in the place of the line that shows its default. */
export function set(workspace: string, line: string, setting: string) {
  const file = join(workspace, "toolcrib.toml");
  const text = readFileSync(file, "utf8");
  if (text.split(`\n${line}\n`).length !== 2) throw new Error(`${line} is not in toolcrib.toml, or more than once`);
  writeFileSync(file, text.replace(`\n${line}\n`, `\n${setting}\n`));
}

export class Toolcrib {
  readonly workspace = mkdtempSync(join(tmpdir(), "toolcrib-e2e-"));
  url = "";
  private process?: ChildProcess;
  private said = "";

  /** `prepare` may write into the workspace before the program reads it. */
  static async start(prepare: (workspace: string) => void = () => {}): Promise<Toolcrib> {
    const it = new Toolcrib();
    execFileSync(binary(), ["init", it.workspace], { env: environment });
    prepare(it.workspace);
    it.url = `http://127.0.0.1:${await freePort()}`;
    await it.serve();
    // What it says comes another way than what it answers, and may come later.
    await until(() => /tck_/.test(it.said) && /\/login\//.test(it.said));
    return it;
  }

  /** Starts the program; again after `stop`, at the same address. */
  async serve() {
    const args = ["serve", "--workspace", this.workspace, "--listen", new URL(this.url).host];
    const started = spawn(binary(), args, { stdio: ["ignore", "pipe", "pipe"], env: environment });
    this.process = started;
    const hear = (bytes: Buffer) => {
      this.said += bytes.toString();
    };
    started.stdout.on("data", hear);
    started.stderr.on("data", hear);
    await this.answers(started);
  }

  private async answers(started: ChildProcess) {
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`the server ended:\n${this.said}`);
      return (await fetch(`${this.url}/readyz`).catch(() => null))?.ok ?? false;
    });
  }

  /** The link that the first start prints, to log in as the admin. */
  loginLink(): string {
    const found = this.said.match(/https?:\/\/\S+\/login\/\S+/);
    if (!found) throw new Error(`no login link was printed:\n${this.said}`);
    return this.url + new URL(found[0]).pathname;
  }

  /** The key that the first start prints. */
  key(): string {
    const found = this.said.match(/tck_[A-Za-z0-9_-]+/);
    if (!found) throw new Error(`no key was printed:\n${this.said}`);
    return found[0];
  }

  /** Another link, for somebody who logs in once more: each works once. */
  async newLoginLink(): Promise<string> {
    const { url } = await this.api("POST", "/users/admin/login-link");
    return this.url + new URL(url).pathname;
  }

  async api(method: string, path: string, body?: unknown) {
    const answer = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: { "X-API-Key": this.key(), "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async stop() {
    const running = this.process;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once("exit", resolve));
    running.kill("SIGTERM");
    await ended;
  }

  async end() {
    await this.stop();
    rmSync(this.workspace, { recursive: true, force: true });
  }
}
