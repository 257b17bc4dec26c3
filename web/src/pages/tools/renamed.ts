// A parameter that is called something else: what the tool does names it anew.

import { writeExact } from "../../exact";
import type { Config, Draft } from "./draft";
import { namesIn } from "./names-in";
import { parametersIn } from "./sql-parameters";

function inQuery(query: string, from: string, to: string): string {
  const found = parametersIn(query).filter((one) => one.name === from);
  // From the end, so that the places before it stay where they are.
  return found.reduceRight(
    (text, place) =>
      text.slice(0, place.from) + text.slice(place.from, place.to).replace(from, () => to) + text.slice(place.to),
    query,
  );
}

const PYTHON =
  /#[^\n]*|[A-Za-z]{0,2}(?:'''[\s\S]*?'''|"""[\s\S]*?"""|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|(?<![\p{L}\p{N}_.])[\p{L}_][\p{L}\p{N}_]*/gu;

function inExpression(source: string, from: string, to: string): string {
  if (!namesIn(source).includes(from) && !/[fF][rR]?["']/.test(source)) return source;
  const named = (text: string): string =>
    text.replace(PYTHON, (token) => {
      if (token === from) return to;
      // A text with places in it, in which names are read.
      if (/^(?:f|fr|rf)["']/i.test(token))
        return token.replace(/\{[^{}]*\}/g, (place) => `{${named(place.slice(1, -1))}}`);
      return token;
    });
  return isAssigned(source, from) ? source : named(source);
}

const isAssigned = (source: string, name: string) =>
  [...source.matchAll(/(?<![\p{L}\p{N}_.])([\p{L}_][\p{L}\p{N}_]*)\s*=(?!=)/gu)].some((match) => match[1] === name);

function inPlaces(value: unknown, from: string, to: string): unknown {
  if (typeof value === "string")
    return value.replace(/\{\{(\s*)([\p{Alphabetic}\p{N}_-]+)(\s*)\}\}/gu, (place, before, name, behind) =>
      name === from ? `{{${before}${to}${behind}}}` : place,
    );
  if (Array.isArray(value)) return value.map((one) => inPlaces(one, from, to));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, inPlaces(one, from, to)]));
}

/** What the tool does, with another name for one of its parameters; the same object where it does not name it. */
export function renamedIn({ kind, config }: Pick<Draft, "kind" | "config">, from: string, to: string): Config {
  const isText = (key: string) => typeof config[key] === "string";
  let next = config;
  if (kind === "sql" && isText("query")) next = { ...config, query: inQuery(String(config.query), from, to) };
  else if (kind === "expression" && isText("expression"))
    next = { ...config, expression: inExpression(String(config.expression), from, to) };
  else if (kind === "http") next = inPlaces(config, from, to) as Config;
  return writeExact(next) === writeExact(config) ? config : next;
}
