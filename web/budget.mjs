// Says what each page costs to load, and fails where one costs too much: 160 kB for the first load, 330 kB for any page.
import fs from "node:fs";
import path from "node:path";

const INITIAL = 160_000;
const ANY = 330_000;
const dist = new URL("dist", import.meta.url).pathname;
const manifest = JSON.parse(fs.readFileSync(path.join(dist, ".vite/manifest.json"), "utf8"));

const size = (file) => {
  const whole = path.join(dist, file);
  return fs.statSync(fs.existsSync(`${whole}.br`) ? `${whole}.br` : whole).size;
};

// Everything that must be there before a chunk runs: itself, what it imports, and their styles.
const needs = (key, found = new Set()) => {
  const chunk = manifest[key];
  for (const file of [chunk.file, ...(chunk.css ?? [])]) found.add(file);
  for (const other of chunk.imports ?? []) if (!found.has(manifest[other].file)) needs(other, found);
  return found;
};
const sum = (files) => [...files].reduce((total, file) => total + size(file), 0);

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
// The shared texts of one language come with the first load.
const first = needs(entry);
const text = Object.keys(manifest).find((key) => key.endsWith("i18n/ko/frame.json"));
if (text) needs(text, first);
const initial = sum(first);
let failed = initial > INITIAL;
console.log(`first load ${(initial / 1000).toFixed(1)} kB of ${INITIAL / 1000}`);
// Pages are what the list of addresses loads; what a page loads itself is counted with it.
const routes = (manifest[entry].dynamicImports ?? []).filter((key) => key.startsWith("src/pages/"));
for (const key of routes) {
  const reached = needs(key, new Set(first));
  // What a page loads by itself; a library of others comes only when a button asks for it.
  const own = (manifest[key].dynamicImports ?? []).filter((lazy) => !lazy.startsWith("node_modules/"));
  for (const lazy of own) needs(lazy, reached);
  const cost = sum(reached);
  if (cost > ANY) failed = true;
  console.log(`${cost > ANY ? "FAIL" : "    "} ${(cost / 1000).toFixed(1).padStart(6)} kB  ${key}`);
}
const all = fs.readdirSync(path.join(dist, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
console.log(`all files ${(all.reduce((total, name) => total + size(`assets/${name}`), 0) / 1000).toFixed(0)} kB`);
if (failed) {
  console.error(
    "The page is too big. `npx vite-bundle-visualizer` shows what of; load what is seldom needed with import().",
  );
  process.exit(1);
}
