import { defineConfig } from "vitest/config";

// A real browser, the real program: one file after the other, on two cores.
export default defineConfig({
  test: {
    // What takes long is no test of every day: it is named, such as E2E_FILE=screenshots.
    include: [process.env.E2E_FILE ? `e2e/${process.env.E2E_FILE}.ts` : "e2e/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    fileParallelism: false,
  },
});
