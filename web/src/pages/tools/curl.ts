// A curl command line, as people paste it, as the config of an HTTP tool. The credential in it goes where it is sealed.

import { readExact } from "../../exact";
import { isBare } from "./credentials";

/** What is said several times is a list. */
type Fields = Record<string, string | string[]>;

export type Request = {
  base_url: string;
  method: string;
  path: string;
  query: Fields;
  headers: Record<string, string>;
  body?: unknown;
  body_type?: "json" | "form" | "text";
  auth?: Auth;
};

type Auth =
  | { type: "basic"; username: string; password: string }
  | { type: "bearer"; token: string }
  | { type: "header" | "query"; name: string; value: string };

/** Why a line cannot be taken: the name of the text that says so. */
export class BadCurl extends Error {
  constructor(readonly why: "quote" | "notCurl" | "files" | "dataFile" | "noAddress" | "badAddress") {
    super(why);
  }
}

/** Words as a shell would split them, with its quotes and its line ends. */
export function words(line: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at]!;
    if (letter === "\\") {
      const next = line[at + 1] ?? "";
      at += 1;
      if (next !== "\n") word = (word ?? "") + next;
    } else if (letter === "$" && line[at + 1] === "'") {
      const [text, end] = escaped(line, at + 2);
      word = (word ?? "") + text;
      at = end;
    } else if (letter === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) throw new BadCurl("quote");
      word = (word ?? "") + line.slice(at + 1, end);
      at = end;
    } else if (letter === '"') {
      let text = "";
      for (at += 1; at < line.length && line[at] !== '"'; at += 1) {
        if (line[at] === "\\" && /["\\$`]/.test(line[at + 1] ?? "")) at += 1;
        text += line[at];
      }
      if (at >= line.length) throw new BadCurl("quote");
      word = (word ?? "") + text;
    } else if (/\s/.test(letter)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? "") + letter;
  }
  if (word !== null) found.push(word);
  return found;
}

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", a: "\x07", b: "\b", e: "\x1b", f: "\f", v: "\v" };

/** What stands in `$'…'`, and where its end is. Browsers write it so where a text has a quotation mark or `!` in it. */
function escaped(line: string, from: number): [text: string, end: number] {
  let text = "";
  for (let at = from; at < line.length; at += 1) {
    if (line[at] === "'") return [text, at];
    if (line[at] !== "\\") {
      text += line[at];
      continue;
    }
    const coded = /^(?:x([\da-f]{1,2})|u([\da-f]{1,4})|U([\da-f]{1,8})|([0-7]{1,3}))/i.exec(
      line.slice(at + 1, at + 10),
    );
    const [whole, ...codes] = coded ?? [];
    const code = codes.findIndex((one) => one !== undefined);
    const next = line[at + 1] ?? "";
    text += whole ? String.fromCodePoint(Number.parseInt(codes[code]!, code === 3 ? 8 : 16)) : (ESCAPES[next] ?? next);
    at += whole?.length ?? 1;
  }
  throw new BadCurl("quote");
}

/** Pairs by their names. */
function fieldsOf(pairs: Iterable<[string, string]>, before: Fields = {}): Fields {
  const all = { ...before };
  for (const [name, text] of pairs) all[name] = Object.hasOwn(all, name) ? [all[name]!, text].flat() : text;
  return all;
}

/** As curl itself would encode it: `name=text`, `=text` or only a text. */
function encoded(value: string): string {
  const at = value.indexOf("=");
  if (at < 0) return encodeURIComponent(value);
  return `${at > 0 ? `${value.slice(0, at)}=` : ""}${encodeURIComponent(value.slice(at + 1))}`;
}

// Short options that take a value: in the same word, or as the next one.
const SHORT_WITH_VALUE = "XHdubAeFomxwcDETUYyzrCPQtK";

const WITH_VALUE = new Set(
  "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --data-ascii --json -u --user -A --user-agent -e --referer -b --cookie --url -F --form -o --output -m --max-time --connect-timeout --retry -x --proxy --cacert --cert --key -w --write-out -c --cookie-jar -D --dump-header -E -T --upload-file -U -Y -y -z -r --range -C -P -Q -t -K --config --resolve --interface --limit-rate --max-redirs --ciphers --tls-max --unix-socket".split(
    " ",
  ),
);

export function parseCurl(line: string): Request {
  const [command, ...rest] = words(line.trim());
  if (command !== "curl") throw new BadCurl("notCurl");
  let url = "";
  let method = "";
  let get = false;
  let json = false;
  const data: string[] = [];
  const headers: Record<string, string> = {};
  let auth: Request["auth"];
  for (let at = 0; at < rest.length; at += 1) {
    let option = rest[at]!;
    if (!option.startsWith("-")) {
      url ||= option;
      continue;
    }
    let value = "";
    // Several short options in one word, the last of which may take a value.
    const cluster = /^-(?!-)/.test(option)
      ? new RegExp(`^-([^${SHORT_WITH_VALUE}]*)(?:([${SHORT_WITH_VALUE}])(.*))?$`, "s").exec(option)
      : null;
    for (const flag of cluster?.[2] === undefined ? (cluster?.[1]?.slice(0, -1) ?? "") : cluster[1]!) {
      if (flag === "G") get = true;
      if (flag === "I") method ||= "HEAD";
    }
    if (cluster) option = `-${cluster[2] ?? cluster[1]!.slice(-1)}`;
    const inWord = cluster?.[3];
    const long = /^(--[\w-]+)=(.*)$/s.exec(option);
    if (inWord) value = inWord;
    else if (long) [option, value] = [long[1]!, long[2]!];
    else if (WITH_VALUE.has(option)) {
      at += 1;
      value = rest[at] ?? "";
    }
    switch (option) {
      case "-X":
      case "--request":
        method = value.toUpperCase();
        break;
      case "-H":
      case "--header": {
        const [name, ...text] = value.split(":");
        if (name && text.length > 0) headers[name.trim()] = text.join(":").trim();
        break;
      }
      case "--json":
      case "-d":
      case "--data":
      case "--data-binary":
      case "--data-ascii":
        if (value.startsWith("@")) throw new BadCurl("dataFile");
        json ||= option === "--json";
        data.push(value);
        break;
      case "--data-raw":
        data.push(value);
        break;
      case "--data-urlencode":
        if (/^[^=]*@/.test(value)) throw new BadCurl("dataFile");
        data.push(encoded(value));
        break;
      case "-u":
      case "--user": {
        const [username = "", ...password] = value.split(":");
        auth = { type: "basic", username, password: password.join(":") };
        break;
      }
      case "-b":
      case "--cookie":
        // Without a sign of equality it is the name of a file.
        if (value.includes("=")) headers.Cookie = value;
        break;
      case "-A":
      case "--user-agent":
        headers["User-Agent"] = value;
        break;
      case "-G":
      case "--get":
        get = true;
        break;
      case "-I":
      case "--head":
        method ||= "HEAD";
        break;
      case "--url":
        url = value;
        break;
      case "-F":
      case "--form":
        throw new BadCurl("files");
    }
  }
  if (!url) throw new BadCurl("noAddress");
  const whole = /^[a-z]+:\/\//i.test(url) ? url : `https://${url}`;
  if (!URL.canParse(whole)) throw new BadCurl("badAddress");
  const address = new URL(whole);
  let query = fieldsOf(address.searchParams);
  if (get) query = fieldsOf(new URLSearchParams(data.splice(0).join("&")), query);
  if (address.username && !auth)
    auth = {
      type: "basic",
      username: decodeURIComponent(address.username),
      password: decodeURIComponent(address.password),
    };
  auth ??= takeAuth(headers, query);
  const made: Request = {
    base_url: address.origin,
    method: method || (data.length > 0 ? "POST" : "GET"),
    // Places for arguments stay readable.
    path: address.pathname === "/" ? "" : address.pathname.replace(/(?:%7B)+.*?(?:%7D)+/gi, decodeURIComponent),
    query,
    headers,
    auth,
  };
  return data.length > 0 ? { ...made, ...bodyOf(data.join("&"), headers, json) } : made;
}

function bodyOf(text: string, headers: Record<string, string>, json: boolean): Pick<Request, "body" | "body_type"> {
  const name = Object.keys(headers).find((one) => one.toLowerCase() === "content-type");
  const type = name ? headers[name]! : "";
  if (json || /json/i.test(type) || (!type && /^\s*[[{]/.test(text))) {
    try {
      const body: unknown = readExact(text);
      // The client writes the header that belongs to the body.
      if (name) delete headers[name];
      return { body, body_type: "json" };
    } catch {
      return { body: text, body_type: "text" };
    }
  }
  if (!type || /x-www-form-urlencoded/i.test(type)) {
    if (name) delete headers[name];
    return { body: fieldsOf(new URLSearchParams(text)), body_type: "form" };
  }
  return { body: text, body_type: "text" };
}

/** The one credential that can be sealed with the tool, taken out of where it stands: the one that is most surely one. */
function takeAuth(headers: Record<string, string>, query: Fields): Auth | undefined {
  const named = Object.keys(headers).filter((name) => isBare(name, headers[name], "header"));
  const lower = (name: string) => name.toLowerCase();
  const first = named.find((name) => lower(name) === "authorization") ?? named.find((name) => lower(name) !== "cookie");
  const inQuery = Object.keys(query).find((name) => isBare(name, query[name], "query"));
  if (!first && inQuery) {
    const value = query[inQuery] as string;
    delete query[inQuery];
    return { type: "query", name: inQuery, value };
  }
  const name = first ?? named[0];
  if (!name) return undefined;
  const value = headers[name]!;
  delete headers[name];
  return (lower(name) === "authorization" && shownBy(value)) || { type: "header", name, value };
}

/** What an `Authorization` header shows, where there is a way of its own for it. */
function shownBy(value: string): Auth | undefined {
  const [, scheme = "", rest = ""] = /^(\w+)\s+(.+)$/.exec(value) ?? [];
  if (/^bearer$/i.test(scheme)) return { type: "bearer", token: rest };
  if (!/^basic$/i.test(scheme)) return undefined;
  try {
    const [username = "", ...password] = new TextDecoder()
      .decode(Uint8Array.from(atob(rest), (letter) => letter.charCodeAt(0)))
      .split(":");
    return { type: "basic", username, password: password.join(":") };
  } catch {
    return undefined;
  }
}
