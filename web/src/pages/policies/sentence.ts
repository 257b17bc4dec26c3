// A rule as a sentence that anybody understands.

import type { TFunction } from "i18next";
import type { RuleText } from "../../api/schema";
import type { Subject } from "./queries";

type Translate = TFunction<"policies">;

export const who = (t: Translate, rule: RuleText): string =>
  t(`who.${rule.subject as Subject}`, { name: rule.target ?? "" });

const list = (patterns: string[]) => patterns.join(", ");

/** What the rule says, a sentence for each part of it. */
export function sentences(t: Translate, rule: RuleText): string[] {
  const name = who(t, rule);
  const said: string[] = [];
  if (rule.allow) {
    said.push(
      rule.allow.length > 0 ? t("says.only", { who: name, list: list(rule.allow) }) : t("says.nothing", { who: name }),
    );
  }
  if (rule.deny?.length) said.push(t("says.deny", { who: name, list: list(rule.deny) }));
  if (rule.hide?.length) said.push(t("says.hide", { who: name, list: list(rule.hide) }));
  return said.length > 0 ? said : [t("says.empty", { who: name })];
}
