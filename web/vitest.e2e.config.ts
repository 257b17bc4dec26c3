import { defineConfig } from "vitest/config";

// A real browser, the real program: one file after the other, on two cores.
export default defineConfig({
  test: {
    include: process.env.SCREENSHOTS ? ["e2e/screenshots.ts"] : ["e2e/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
