// What was tried last with a tool, or with one that is not saved yet: its arguments and the answer, while the page is open.

import type { Values } from "../../ui/schema-form";
import type { Answer } from "./queries";

const lastArguments = new Map<string, Values>();
const lastAnswers = new Map<string, Answer>();

/** The name that a selection of the query is tried under. */
export const partKey = (keep: string) => `sql:${keep}`;

/** The arguments that were last in the form kept under this name. */
export const argumentsOf = (keep: string): Values => lastArguments.get(keep) ?? {};
export const keptArguments = (keep: string): Values | undefined => lastArguments.get(keep);
export const keepArguments = (keep: string, args: Values) => void lastArguments.set(keep, args);

export const keptAnswer = (keep: string): Answer | undefined => lastAnswers.get(keep);
export const keepAnswer = (keep: string, answer: Answer) => void lastAnswers.set(keep, answer);

/** What it was about is another now. */
export const dropAnswer = (keep: string) => void lastAnswers.delete(keep);

/** Thrown away with a draft: the next new tool begins with nothing of it. */
export function dropTries(keep: string) {
  lastArguments.delete(keep);
  for (const one of [keep, partKey(keep)]) lastAnswers.delete(one);
}

/** A tool that was saved goes on under its name with what was tried before. */
export function moveTries(from: string, to: string) {
  if (from === to) return;
  const args = lastArguments.get(from);
  const answer = lastAnswers.get(from);
  dropTries(from);
  if (args) lastArguments.set(to, args);
  if (answer) lastAnswers.set(to, answer);
}
