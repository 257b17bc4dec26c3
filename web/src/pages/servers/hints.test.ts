// The server's words lead to the advice that fits them.

import { expect, test } from "vitest";
import { hintFor } from "./hints";

test.each([
  ["its program 'no-such-program' cannot be started: No such file or directory (os error 2)", "program"],
  ["http://127.0.0.1:8999 cannot be reached: nothing there takes the connection", "reach"],
  ["it answered HTTP 503", "theirs"],
  ["it answered HTTP 401", "key"],
  ["it answered HTTP 404", "path"],
  ["something nobody has thought of", "other"],
])("%s", (cause, hint) => {
  expect(hintFor({ state: "failed", cause })).toBe(hint);
});

test("who has to sign in is told so only where that is possible", () => {
  const sign_in = { for: "server" } as never;
  expect(hintFor({ state: "auth_required", cause: "it answered HTTP 401", sign_in })).toBe("signIn");
  expect(hintFor({ state: "auth_required", cause: "it answered HTTP 401" })).toBe("key");
});
