import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` shows the page of this folder in front of a server that is already running.
const server = process.env.TOOLCRIB_URL ?? "http://127.0.0.1:8787";

export default defineConfig({
  plugins: [react(), tailwind()],
  // Two copies of CodeMirror's state do not know each other's extensions.
  resolve: { dedupe: ["@codemirror/state", "@codemirror/view"] },
  build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 700, manifest: true },
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
