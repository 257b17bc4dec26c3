// Loaded into the conformance suite before it starts: adds a key to every request to the server under test, because the
// suite itself can send none. It asks in three ways; each is wrapped.
import http from "node:http";
import { createRequire } from "node:module";

const { CONFORMANCE_KEY: key, CONFORMANCE_URL: server } = process.env;
const authorization = `Bearer ${key}`;
const isServer = (url) => new URL(url).origin === new URL(server).origin;

const fetch = globalThis.fetch;
globalThis.fetch = (resource, options = {}) => {
  if (!isServer(resource.url ?? resource)) return fetch(resource, options);
  const headers = new Headers(options.headers ?? resource.headers);
  headers.set("authorization", authorization);
  return fetch(resource, { ...options, headers });
};

const request = http.request;
http.request = (options, ...rest) => request({ ...options, headers: { ...options.headers, authorization } }, ...rest);

const undici = createRequire(process.argv[1])("undici");
const undiciRequest = undici.request;
undici.request = (url, options) => undiciRequest(url, { ...options, headers: { ...options?.headers, authorization } });
