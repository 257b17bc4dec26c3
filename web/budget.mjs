// Says what each page costs to load, and fails where one costs too much: 160 kB for the first load, 330 kB for any page. A page
// costs all that comes without anybody asking for it: what it imports, the parts that it loads while it is looked at, however
// deep, and its texts.
import fs from "node:fs";
import path from "node:path";

const INITIAL = 160_000;
const ANY = 330_000;

/** Parts that come only when somebody asks for them, and how they ask. Whatever is not named here counts. */
const ON_DEMAND = {
  "src/shell/palette.tsx": "Ctrl+K or a click on the search",
  "src/shell/key-sheet.tsx": "the key ?",
  "src/shell/log-in-again.tsx": "a session that ended",
  "src/shell/connect.tsx": "a click on Connect",
  "src/shell/narrow-menu.tsx": "a click on the menu's button on a narrow screen",
  "src/ui/menu-list.tsx": "a click on a button with a menu",
  "src/ui/code-search.ts": "Ctrl+F in an editor",
  "src/ui/leaving-dialog.tsx": "the first thing that is written into a form",
  "src/ui/result.tsx": "a run of a tool or a query",
  "src/ui/schema-json.tsx": "a click on As JSON above a form of arguments",
  "src/pages/tools/case-dialog.tsx": "a click on Edit of a saved test, or on Write a test",
  "src/pages/tools/conflict.tsx": "a save that was refused because somebody else saved meanwhile",
  "src/pages/tools/credential-note.tsx": "a value that looks like a credential",
  "src/pages/tools/paste-curl.tsx": "a click on Paste cURL",
  "src/pages/tools/parameter-advanced.tsx": "a click on more settings of a parameter",
  "src/pages/tools/plan-view.tsx": "a click on Explain",
  "src/pages/tools/safety.tsx": "a click on Safety and limits",
  "src/pages/tools/saved-tests.tsx": "a save of a tool with tests, or a click on Run all",
  "src/pages/tools/sql-format.ts": "a click on Format",
  "src/pages/tools/writes-dialog.tsx": "a run of a tool that writes",
};
/** Texts that come only when something failed. */
const TEXTS_ON_DEMAND = ["errors"];
/** The editor of tools shows one step at a time, and in its logic what belongs to the tool's kind. The dearest counts. */
const ONE_AT_A_TIME = {
  basics: ["src/pages/tools/basics.tsx"],
  parameters: ["src/pages/tools/parameters.tsx"],
  test: ["src/pages/tools/test-step.tsx"],
  sql: ["src/pages/tools/logic.tsx", "src/pages/tools/logic-sql.tsx", "src/pages/tools/sql-code.tsx"],
  expression: ["src/pages/tools/logic.tsx", "src/pages/tools/logic-expression.tsx"],
  http: ["src/pages/tools/logic.tsx", "src/pages/tools/logic-http.tsx"],
  mcp: ["src/pages/tools/logic.tsx", "src/pages/tools/logic-mcp.tsx"],
  programs: ["src/pages/tools/logic.tsx", "src/pages/tools/logic-programs.tsx"],
};

const here = new URL(".", import.meta.url).pathname;
const dist = path.join(here, "dist");
const manifest = JSON.parse(fs.readFileSync(path.join(dist, ".vite/manifest.json"), "utf8"));
const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
// Pages are what the list of addresses loads.
const isPage = (key) => key.startsWith("src/pages/") && manifest[entry].dynamicImports.includes(key);

const size = (file) => {
  const whole = path.join(dist, file);
  return fs.statSync(fs.existsSync(`${whole}.br`) ? `${whole}.br` : whole).size;
};
const sum = (files) => [...files].reduce((total, file) => total + size(file), 0);

/** The files that must be there before a chunk runs: its own, those of what it imports, and their styles. */
function filesOf(key, found = new Set()) {
  const chunk = manifest[key];
  if (found.has(chunk.file)) return found;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) found.add(file);
  for (const other of chunk.imports ?? []) filesOf(other, found);
  return found;
}

const IMPORT = /^(?:import|export) (type )?[^;"]*?from "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;

/** The sources that a page is made of, also those that it loads while it is looked at. Chunks cannot tell: many pages share them. */
function sourcesOf(source, without, found = new Set()) {
  if (found.has(source) || source in ON_DEMAND || without.includes(source)) return found;
  found.add(source);
  for (const [, isType, fixed, lazy] of read(source).matchAll(IMPORT)) {
    const base = path.join(path.dirname(source), fixed ?? lazy);
    const file = [".ts", ".tsx"].map((ending) => base + ending).find((one) => fs.existsSync(path.join(here, one)));
    if (file && !isType && !isPage(file)) sourcesOf(file, without, found);
  }
  return found;
}
const read = (source) => fs.readFileSync(path.join(here, source), "utf8");

/** The texts that a source asks for. */
const textsOf = (source) =>
  [...read(source).matchAll(/useTranslation\(([^)]*)\)/g)].flatMap(([, given]) =>
    [...given.matchAll(/"(\w+)"/g)].flatMap(([, area]) => (TEXTS_ON_DEMAND.includes(area) ? [] : textOf(area))),
  );
const textOf = (area) => manifest[`src/i18n/ko/${area}.json`].file;

function costOf(page, shown) {
  const others = Object.values(ONE_AT_A_TIME)
    .flat()
    .filter((source) => !ONE_AT_A_TIME[shown].includes(source));
  const sources = [...sourcesOf(page, others)];
  const parts = sources.filter((source) => manifest[source]?.isDynamicEntry).map((source) => filesOf(source));
  return sum(new Set([first, ...parts, sources.flatMap(textsOf)].flatMap((files) => [...files])));
}

let failed = false;
const tell = (cost, most, name) => {
  if (cost > most) failed = true;
  console.log(`${cost > most ? "FAIL" : "    "} ${(cost / 1000).toFixed(1).padStart(6)} kB of ${most / 1000}  ${name}`);
};

for (const key of [...Object.keys(ON_DEMAND), ...Object.values(ONE_AT_A_TIME).flat()])
  if (!manifest[key]?.isDynamicEntry) throw new Error(`${key} is not loaded by itself any more: take it off the list.`);

// The shared texts of one language come with the first load.
const first = filesOf(entry).add(textOf("frame"));
tell(sum(first), INITIAL, "first load");
for (const page of manifest[entry].dynamicImports.filter(isPage))
  tell(Math.max(...Object.keys(ONE_AT_A_TIME).map((shown) => costOf(page, shown))), ANY, page);
const all = fs.readdirSync(path.join(dist, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
console.log(`all files ${(all.reduce((total, name) => total + size(`assets/${name}`), 0) / 1000).toFixed(0)} kB`);
if (failed) {
  console.error(
    "The page is too big. `npx vite-bundle-visualizer` shows what of; load what is seldom needed with import().",
  );
  process.exit(1);
}
