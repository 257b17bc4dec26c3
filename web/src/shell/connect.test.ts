import { expect, test } from "vitest";
import { clients, type Place } from "./connect";

const place: Place = { url: "http://127.0.0.1:8080/mcp/sums", key: "k", name: "toolcrib-sums", toolset: "sums" };

test("two sets in one client have two names, and stdio gives no more than the set", () => {
  for (const id of ["claude-code", "cursor", "vscode", "stdio"])
    expect(clients.find((one) => one.id === id)?.text(place), id).toContain("toolcrib-sums");
  const stdio = clients.find((one) => one.id === "stdio")!;
  expect(JSON.parse(stdio.text(place)).mcpServers["toolcrib-sums"].args.slice(-2)).toEqual(["--toolset", "sums"]);
  expect(stdio.text({ ...place, toolset: undefined })).not.toContain("--toolset");
});
