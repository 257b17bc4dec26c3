// A curl command line, as people paste it, as the config of an HTTP tool. The credential in it goes where it is sealed.

import { isBare } from "./credentials";

export type Request = {
  base_url: string;
  method: string;
  path: string;
  query: Record<string, string>;
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
  constructor(readonly why: "quote" | "notCurl" | "files" | "noAddress" | "badAddress") {
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
    } else if (letter === "'" || (letter === "$" && line[at + 1] === "'")) {
      if (letter === "$") at += 1;
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

const WITH_VALUE = new Set(
  "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --data-ascii --json -u --user -A --user-agent -e --referer -b --cookie --url -F --form -o --output -m --max-time --connect-timeout --retry -x --proxy --cacert --cert --key -w --write-out".split(
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
    const short = /^-([XHdubAeF])(.+)$/.exec(option);
    const long = /^(--[\w-]+)=(.*)$/s.exec(option);
    if (short) [option, value] = [`-${short[1]}`, short[2]!];
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
        json = true;
        data.push(value);
        break;
      case "-d":
      case "--data":
      case "--data-raw":
      case "--data-binary":
      case "--data-ascii":
      case "--data-urlencode":
        data.push(value);
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
  const query = Object.fromEntries(address.searchParams);
  if (get) for (const [name, text] of new URLSearchParams(data.splice(0).join("&"))) query[name] = text;
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
    path: address.pathname === "/" ? "" : address.pathname.replace(/%7B/gi, "{").replace(/%7D/gi, "}"),
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
      const body: unknown = JSON.parse(text);
      // The client writes the header that belongs to the body.
      if (name) delete headers[name];
      return { body, body_type: "json" };
    } catch {
      return { body: text, body_type: "text" };
    }
  }
  if (!type || /x-www-form-urlencoded/i.test(type)) {
    if (name) delete headers[name];
    return { body: Object.fromEntries(new URLSearchParams(text)), body_type: "form" };
  }
  return { body: text, body_type: "text" };
}

/** The one credential that can be sealed with the tool, taken out of where it stands: the one that is most surely one. */
function takeAuth(headers: Record<string, string>, query: Record<string, string>): Auth | undefined {
  const named = Object.keys(headers).filter((name) => isBare(name, headers[name], "header"));
  const lower = (name: string) => name.toLowerCase();
  const first = named.find((name) => lower(name) === "authorization") ?? named.find((name) => lower(name) !== "cookie");
  const inQuery = Object.keys(query).find((name) => isBare(name, query[name], "query"));
  if (!first && inQuery) {
    const value = query[inQuery]!;
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
