import { expect, test } from "vitest";
import { clients, nameFor, type Place } from "./clients";

const place: Place = { url: "http://127.0.0.1:8080/mcp/sums", key: "k", name: "toolcrib-sums", toolset: "sums" };

test("two sets in one client have two names, and stdio gives no more than the set", () => {
  for (const id of ["claude-code", "claude-desktop", "cursor", "vscode", "windsurf", "codex", "gemini", "stdio"])
    expect(clients.find((one) => one.id === id)?.text(place), id).toContain("toolcrib-sums");
  const stdio = clients.find((one) => one.id === "stdio")!;
  expect(JSON.parse(stdio.text(place)).mcpServers["toolcrib-sums"].args.slice(-2)).toEqual(["--toolset", "sums"]);
  expect(stdio.text({ ...place, toolset: undefined })).not.toContain("--toolset");
});

test("a name has nothing that a client refuses or reads as something else", () => {
  expect(nameFor("a.b c")).toBe("toolcrib-a-b-c");
  expect(nameFor(undefined)).toBe("toolcrib");
});

test("Claude Desktop is told to go without encryption only where it would refuse to", () => {
  const text = (url: string) => clients.find((one) => one.id === "claude-desktop")!.text({ ...place, url });
  expect(text("http://10.0.0.7:8080/mcp")).toContain("--allow-http");
  expect(text("https://tools.example.com/mcp")).not.toContain("--allow-http");
  expect(text("http://127.0.0.1:8080/mcp")).not.toContain("--allow-http");
});
