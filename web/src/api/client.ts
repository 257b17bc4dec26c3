// The one way to the server: typed by its own document, errors as ApiError, a lost session or server handled once for all.

import createClient from "openapi-fetch";
import { readExact, writeExact } from "../exact";
import { loadTexts } from "../i18n";
import { ApiError, apiError, Unreachable } from "./errors";
import type { paths } from "./schema";
import { connection, loggedInAgain } from "./session";

/// Whether anybody was let in since the page was loaded: only then is a 401 a session that has ended.
let wasIn = false;

export async function send(request: Request): Promise<Response> {
  const again = request.clone();
  let answer: Response;
  try {
    answer = await fetch(request);
  } catch (cause) {
    if (request.signal.aborted) throw cause;
    connection.lost();
    throw new Unreachable();
  }
  connection.found();
  // Nobody logs in again to log out.
  if (answer.status === 401 && wasIn && !/\/log(in|out)$/.test(new URL(request.url).pathname)) {
    if (await loggedInAgain()) return send(again);
  }
  if (answer.ok) wasIn = true;
  return answer;
}

/// The client reads JSON in two ways, by whether the answer tells its length, and one of them is not ours to change.
async function sendExact(request: Request): Promise<Response> {
  const answer = await send(request);
  const headers = new Headers(answer.headers);
  if (!headers.has("Content-Length")) headers.set("Content-Length", "unknown");
  const json = async () => {
    const text = await answer.text();
    return text ? readExact(text) : undefined;
  };
  return Object.defineProperties(answer, { headers: { value: headers }, json: { value: json } });
}

export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? "",
  fetch: sendExact,
  bodySerializer: (body) => writeExact(body),
});

type Answer<T> = { data?: T; error?: unknown; response: Response };

/// A refusal, once the words for it are there: few need them, so they do not come with the page.
export async function refusal(status: number, body: unknown): Promise<ApiError> {
  await loadTexts(["errors"]);
  return apiError(status, body);
}

/// The body of an answer, or the error it was refused with.
export async function got<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (!response.ok) throw await refusal(response.status, error);
  return data as T;
}

/// Every page of a list; for lists that are known to be short.
export async function every<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor?: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const { items, next_cursor } = await page(cursor);
    all.push(...items);
    cursor = next_cursor ?? undefined;
  } while (cursor);
  return all;
}

export const isCode = (error: unknown, code: string) => error instanceof ApiError && error.code === code;
