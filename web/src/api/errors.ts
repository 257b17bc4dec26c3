// What a server's refusal looks like here: the code to decide by, the sentence to show for it, the request to ask about.

import i18next from "i18next";

export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly details: unknown = null,
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/// A server that could not be reached at all.
export class Unreachable extends Error {}

export function apiError(status: number, body: unknown): ApiError {
  const error = (body as { error?: Record<string, unknown> } | undefined)?.error;
  if (!error || typeof error.message !== "string") {
    return new ApiError("unknown", `HTTP ${status}`, status);
  }
  return new ApiError(
    String(error.code),
    error.message,
    status,
    error.details ?? null,
    typeof error.request_id === "string" ? error.request_id : null,
  );
}

/// What a code means and what to do about it, in the reader's language; nothing for a code that nobody has put into words.
export function sentenceOf(code: string): string | undefined {
  const key = `errors:code.${code as "internal"}` as const;
  return i18next.exists(key) ? String(i18next.t(key)) : undefined;
}

/// One thing that is wrong in what was sent. `path` is the member, such as `url` or `rules[0].target`; empty where none is named.
export type Problem = { path: string; message: string };

type Listed = {
  path?: unknown;
  pointer?: unknown;
  message?: unknown;
  expected?: unknown;
  found?: unknown;
  got?: unknown;
  remedy?: unknown;
};

/// What a schema asks for, as people say it; what the server says in words of its own stays as it is.
function wanted(expected: string): string {
  const [, rule = "", value = ""] = /^(\w+) (.+)$/s.exec(expected) ?? [];
  const key = (rule === "type" ? `errors:type.${value as "string"}` : `errors:rule.${rule as "minimum"}`) as never;
  return rule && i18next.exists(key) ? i18next.t(key, { value }) : expected;
}

function problemOf(one: Listed): Problem[] {
  const place = one.path ?? one.pointer;
  const path = typeof place === "string" ? place.replace(/^\$\.?/, "") : "";
  if (typeof one.message === "string") return [{ path, message: one.message }];
  if (typeof one.expected !== "string") return [];
  // What is missing is told of the object that lacks it; people look for it at the field.
  const missing = /^property "([^"]+)"$/.exec(one.expected)?.[1];
  if (missing)
    return [
      {
        path: path ? `${path}.${missing}` : missing,
        message: i18next.t("errors:missing", { defaultValue: one.expected }),
      },
    ];
  const seen = one.found ?? one.got;
  const expected = wanted(one.expected);
  const told =
    typeof seen === "string"
      ? i18next.t("errors:expectedFound", { expected, found: seen, defaultValue: "{{expected}} (≠ {{found}})" })
      : i18next.t("errors:expected", { expected, defaultValue: expected });
  return [{ path, message: typeof one.remedy === "string" ? `${told} ${one.remedy}` : told }];
}

type Details = { problems?: unknown; violations?: unknown; errors?: unknown } | unknown[] | null;

/// Problems by the place in the sent body, of a refusal or of a call that failed: as `details` list them, or as the message begins with the member's name.
export function problemsOf(error: unknown): Problem[] {
  const { details, message } = (error ?? {}) as { details?: Details; message?: unknown };
  const list = Array.isArray(details) ? details : (details?.problems ?? details?.violations ?? details?.errors);
  if (Array.isArray(list)) return list.flatMap((one) => problemOf(one as Listed));
  const named = /^([a-z_]+(?:\[\d+\]|\.[a-z_]+)*): (.+)$/s.exec(typeof message === "string" ? message : "");
  return named ? [{ path: named[1]!, message: named[2]! }] : [];
}

/// What is wrong with one member of a form, or with something in it.
export function problemAt(error: unknown, member: string): string | undefined {
  const inside = (path: string) => path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`);
  return problemsOf(error).find((problem) => inside(problem.path))?.message;
}
