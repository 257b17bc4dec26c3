// Which values of a request or of an environment are credentials, by their names. Everybody who may see a tool can read its
// config, so they belong where values are sealed, and nowhere in this browser.

import type { Config } from "./draft";

const NAMED =
  /^(proxy-)?authorization$|^cookie$|(api|access|auth|service|subscription|functions|private|secret|master|license)[-_.]?key$|(^|[-_.])(tokens?|secret|password|passwd|pwd|passphrase|credentials?|session|session-?id|auth|jwt|apikey)$/;
// They go from page to page, or belong to a form, and let nobody in.
const HARMLESS = /(page|next|prev|previous|continuation|sync|cursor|csrf|xsrf|max|stop)[-_.]?tokens?$/;
const IN_QUERY = /^(key|sig|signature|appid)$/;

export type Place = "header" | "query" | "env" | "body";

const plain = (name: string) =>
  name
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase();

export const isCredentialName = (name: string, place: Place): boolean => {
  const one = plain(name);
  return !HARMLESS.test(one) && (NAMED.test(one) || (place === "query" && IN_QUERY.test(one)));
};

/** A value that is written out: no argument, and no reference to a secret. */
export const isLiteral = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && !/\{\{[^}]+\}\}/.test(value);

export const isBare = (name: string, value: unknown, place: Place) => isLiteral(value) && isCredentialName(name, place);

const PLACES: Array<[string, Place]> = [
  ["headers", "header"],
  ["query", "query"],
  ["env", "env"],
  ["body", "body"],
];

type Change = (path: string[], value: string) => unknown;
type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same, with `change` in the place of each credential that is written out, or was left out. */
function mapped(value: unknown, place: Place, path: string[], change: Change): unknown {
  if (Array.isArray(value)) return value.map((one, at) => mapped(one, place, [...path, String(at)], change));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const at = [...path, name];
      const isKey = (one === "" || isLiteral(one)) && isCredentialName(name, place);
      return [name, isKey ? change(at, one) : mapped(one, place, at, change)];
    }),
  );
}

function mappedConfig(config: Config, change: Change): Config {
  const found = PLACES.filter(([member]) => typeof config[member] === "object");
  if (found.length === 0) return config;
  return {
    ...config,
    ...Object.fromEntries(found.map(([member, place]) => [member, mapped(config[member], place, [member], change)])),
  };
}

/** Without the credentials that are written out, as it may be left behind in a browser. */
export const unkeyed = (config: Config): Config => mappedConfig(config, () => "");

/** The paths of the credentials in it that are written out; with those whose values were left out on request. */
export function keysIn(config: Config, isAlsoEmpty = false): string[] {
  const found: string[] = [];
  mappedConfig(config, (path, value) => void ((value || isAlsoEmpty) && found.push(path.join("."))));
  return found;
}

/** What was left out, from what is stored. */
export function rekeyed(config: Config, stored: Config): Config {
  let next: unknown = config;
  mappedConfig(stored, (path, value) => {
    next = filled(next, path, value);
    return value;
  });
  return next as Config;
}

function filled(value: unknown, [name, ...rest]: string[], stored: unknown): unknown {
  if (name === undefined) return value === "" ? stored : value;
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === name ? filled(one, rest, stored) : one));
  if (!isMembers(value) || !(name in value)) return value;
  return { ...value, [name]: filled(value[name], rest, stored) };
}

/** What a secret that is made of a value is called: after the tool and the name it has there. */
export function secretName(tool: string, name: string, taken: string[]): string {
  const words = `${tool}_${plain(name)}`.replace(/[^a-z0-9]+/gi, "_").replace(/^_+|_+$/g, "");
  const base = words.toLowerCase().slice(0, 56) || "secret";
  let made = base;
  for (let at = 2; taken.includes(made); at += 1) made = `${base}_${at}`;
  return made;
}
