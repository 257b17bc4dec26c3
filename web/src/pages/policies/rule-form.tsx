// One rule: whom it is for, and what they may only, may not, or shall not even see.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import type { RuleText } from "../../api/schema";
import { Button } from "../../ui/button";
import { Check, Field, Select } from "../../ui/field";
import { Fits } from "../../ui/fits";
import { Note } from "../../ui/note";
import { Dialog } from "../../ui/overlay";
import { Suggest } from "../../ui/suggest";
import { ToolLines } from "../../ui/tool-lines";
import { SUBJECTS, type Subject, subjectsQuery, tidy } from "./queries";
import { sentences } from "./sentence";

type Props = {
  rule: RuleText | null;
  /** All rules; somebody has one at most. */
  rules: RuleText[];
  onClose: () => void;
  onDone: (rule: RuleText) => void;
};

const PARTS = ["deny", "hide"] as const;

export function RuleForm({ rule, rules, onClose, onDone }: Props) {
  const { t } = useTranslation(["policies", "frame"]);
  const [draft, setDraft] = useState<RuleText>(rule ?? { subject: "everyone" });
  const set = (change: Partial<RuleText>) => setDraft((before) => ({ ...before, ...change }));
  // What was typed is there again for whoever only looked at another choice.
  const [aside, setAside] = useState<{ targets: Record<string, string | null | undefined>; allow: string[] }>({
    targets: {},
    allow: [],
  });
  const choose = (subject: string) => {
    setAside({ ...aside, targets: { ...aside.targets, [draft.subject]: draft.target } });
    set({ subject, target: aside.targets[subject] ?? null });
  };
  const limit = (isLimited: boolean) => {
    if (!isLimited) setAside({ ...aside, allow: draft.allow ?? [] });
    set({ allow: isLimited ? aside.allow : null });
  };
  const subjects = useQuery(subjectsQuery);
  const needsTarget = draft.subject !== "everyone";
  const same = rules.findIndex(
    (one) =>
      one !== rule &&
      one.subject === draft.subject &&
      (one.target ?? "") === (needsTarget ? (draft.target?.trim() ?? "") : ""),
  );
  const isWhole =
    same < 0 &&
    (!needsTarget || !!draft.target?.trim()) &&
    (!!draft.allow || !!draft.deny?.length || !!draft.hide?.length);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isWhole) onDone(tidy({ ...draft, target: needsTarget ? draft.target?.trim() : null }));
  };
  return (
    <Dialog open wide onClose={onClose} title={t(rule ? "form.edit" : "form.new")}>
      <form onSubmit={submit} className="grid gap-4" noValidate>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label={t("form.subject")}>
            {(told) => (
              <Select {...told} value={draft.subject} onChange={(event) => choose(event.target.value)}>
                {SUBJECTS.map((subject) => (
                  <option key={subject} value={subject}>
                    {t(`subject.${subject}`)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {needsTarget && (
            <Suggest
              label={t(`subject.${draft.subject as Subject}`)}
              required
              options={subjects.data?.[draft.subject as Subject] ?? []}
              value={draft.target ?? ""}
              onChange={(event) => set({ target: event.target.value })}
            />
          )}
        </div>
        {same >= 0 && <Note tone="warn">{t("form.same", { nth: same + 1 })}</Note>}
        <div className="grid gap-2">
          <Check label={t("form.only")} checked={!!draft.allow} onChange={(event) => limit(event.target.checked)} />
          {draft.allow && (
            <>
              <ToolLines
                label={t("form.allow")}
                hint={t("form.patternHint")}
                placeholder="calculator"
                value={draft.allow}
                onChange={(allow) => set({ allow })}
              />
              <Fits patterns={draft.allow} />
            </>
          )}
        </div>
        {PARTS.map((part) => (
          <div key={part} className="grid gap-2">
            <ToolLines
              label={t(`form.${part}`)}
              hint={`${t(`form.${part}Hint`)} ${t("form.patternHint")}`}
              rows={2}
              value={draft[part] ?? []}
              onChange={(patterns) => set({ [part]: patterns })}
            />
            <Fits patterns={draft[part] ?? []} />
          </div>
        ))}
        <div className="rounded-md bg-sunken px-3 py-2">
          {sentences(t, draft).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t("frame:cancel")}</Button>
          <Button look="primary" type="submit" disabled={!isWhole}>
            {t(rule ? "form.change" : "form.add")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
