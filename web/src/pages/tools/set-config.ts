// Changes of what a kind of tool keeps about itself.

import type { Config } from "./draft";

/** An empty value is left out: the server then does as it usually does. */
export function without(config: Config, key: string, value: unknown): Config {
  const { [key]: _, ...others } = config;
  return value === undefined || value === "" ? others : { ...config, [key]: value };
}
