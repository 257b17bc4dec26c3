// What a server's refusal looks like here: the code to decide by, the message to show, the request to ask about.

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

/// One thing that is wrong in what was sent, as the server's `details` list it.
export type Problem = { path: string; message: string };

/// Problems by the place in the sent body; empty where the server named none.
export function problemsOf(error: unknown): Problem[] {
  if (!(error instanceof ApiError)) return [];
  const details = error.details as { errors?: unknown } | unknown[] | null;
  const list = Array.isArray(details) ? details : details && typeof details === "object" ? details.errors : undefined;
  if (!Array.isArray(list)) return [];
  return list.flatMap((one) => {
    const problem = one as { path?: unknown; pointer?: unknown; message?: unknown };
    const path = problem.path ?? problem.pointer;
    return typeof problem.message === "string"
      ? [{ path: typeof path === "string" ? path : "", message: problem.message }]
      : [];
  });
}
