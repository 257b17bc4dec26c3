// Each part of a rule is said, and nothing that it does not say.

import i18next from "i18next";
import { beforeAll, expect, test } from "vitest";
import texts from "../../i18n/en/policies.json";
import { sentences } from "./sentence";

beforeAll(() =>
  i18next.init({ lng: "en", resources: { en: { policies: texts } }, interpolation: { escapeValue: false } }),
);

const said = (rule: Parameters<typeof sentences>[1]) => sentences(i18next.getFixedT("en", "policies"), rule);

test("one sentence for each part", () => {
  const all = said({ subject: "user", target: "kim", allow: ["calc*"], deny: ["a.b"], hide: ["c", "d"] });
  expect(all).toHaveLength(3);
  expect(all[0]).toContain("kim");
  expect(all[0]).toContain("calc*");
  expect(all[1]).toContain("a.b");
  expect(all[2]).toContain("c, d");
});

test("an empty list of what is allowed is not the same as none", () => {
  expect(said({ subject: "everyone", allow: [] })).not.toEqual(said({ subject: "everyone" }));
});
