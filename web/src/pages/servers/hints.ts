// What usually helps, told from how a server is doing and from its own words.

import type { ServerView } from "./queries";

const KNOWN = [
  [/cannot be started|No such file|os error 2\b/i, "program"],
  [/variable|is not set/i, "variable"],
  [/not public|private address|http\.allow|may not be called/i, "private"],
  [/commands_allowed|may not be started/i, "command"],
  [/HTTP 40[13]|unauthori[sz]ed|forbidden/i, "key"],
  [/HTTP 404|HTTP 405/i, "path"],
  [/HTTP 5\d\d/i, "theirs"],
  [/cannot be reached|takes the connection|connection refused|dns|resolve/i, "reach"],
  [/certificate|tls/i, "tls"],
  [/within|timed? ?out|seconds/i, "slow"],
  [/ended|exit|closed/i, "ended"],
] as const;

export type Hint = (typeof KNOWN)[number][1] | "signIn" | "hidden" | "stopped" | "other";

export function hintFor(server: Pick<ServerView, "state" | "cause" | "sign_in">): Hint | null {
  if (server.state === "auth_required") return server.sign_in ? "signIn" : "key";
  if (server.state === "hidden") return "hidden";
  if (server.state === "stopped") return "stopped";
  if (!server.cause) return null;
  return KNOWN.find(([words]) => words.test(server.cause ?? ""))?.[1] ?? "other";
}
