import { readFileSync } from "node:fs";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` shows the page of this folder in front of a server that is already running.
const server = process.env.TOOLCRIB_URL ?? "http://127.0.0.1:8787";

/** The icons that the frame of every page has: they come with it, all others in one file when a page needs the first of them. */
const framed = new Set(
  ["src/nav.ts", "src/ui/states.tsx", "src/ui/button.tsx", "src/ui/toast.tsx"]
    .concat(["bar", "failures", "rail"].map((name) => `src/shell/${name}.tsx`))
    .flatMap(
      (file) =>
        /import \{([^}]*)\} from "lucide-react"/
          .exec(readFileSync(new URL(file, import.meta.url), "utf8"))?.[1]
          ?.split(",") ?? [],
    )
    .map((name) =>
      name
        .trim()
        .replace(/ as .*/, "")
        .replace(/[a-z0-9](?=[A-Z])|[a-zA-Z](?=\d)/g, "$&-")
        .toLowerCase(),
    ),
);
// What TriangleAlert is another name for.
framed.add("triangle-exclamation-point");
const isIcon = (id: string) => /lucide-react\/dist\/esm\/icons\/([\w-]+)\.m?js/.exec(id)?.[1];
/** What nearly every page is made of. */
const PARTS =
  /\/src\/ui\/(badge|code|copy|crumbs|facts|field|json|note|search-box|spark|switch|table|tabs|ticks|time)\.tsx$/;

// Dozens of files of a few hundred bytes take a browser longer than the bytes do.
const groups = [
  {
    name: "icons",
    test: (id: string) => {
      const icon = isIcon(id);
      return icon !== undefined && !framed.has(icon);
    },
  },
  { name: "parts", test: PARTS },
];

export default defineConfig({
  plugins: [react(), tailwind()],
  // Two copies of CodeMirror's state do not know each other's extensions.
  resolve: { dedupe: ["@codemirror/state", "@codemirror/view"] },
  build: {
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    manifest: true,
    rolldownOptions: { output: { codeSplitting: { includeDependenciesRecursively: false, groups } } },
  },
  server: {
    // The server takes changes from pages of its own origin only.
    proxy: Object.fromEntries(
      ["/api", "/login", "/mcp", "/healthz", "/readyz"].map((path) => [
        path,
        { target: server, changeOrigin: true, headers: { origin: server } },
      ]),
    ),
  },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
});
