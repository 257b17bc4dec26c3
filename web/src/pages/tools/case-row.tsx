// One saved test: what it is called, what it calls the tool with, what it expects, and what came of it.

import { CircleCheck, CircleX, ClipboardPaste, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Badge } from "../../ui/badge";
import { IconButton } from "../../ui/button";
import { Input, Select } from "../../ui/field";
import { expecting, partOfText, passes, textOfPart } from "./cases";
import type { Case } from "./draft";
import type { Answer } from "./queries";

type Props = {
  one: Case;
  at: number;
  answer?: Answer;
  onTry?: () => void;
  /** None of these for those who may only look. */
  onEdit?: () => void;
  onChange?: (one: Case) => void;
  onRemove?: () => void;
};

export function CaseRow({ one, at, answer, onTry, onEdit, onChange, onRemove }: Props) {
  const { t } = useTranslation("editor");
  const passed = answer && passes(one, answer);
  const number = { number: at + 1 };
  return (
    <li
      className="grid gap-1 rounded-md border px-2 py-1.5 text-sm"
      data-status={answer ? (passed ? "passed" : "failed") : "untried"}
    >
      <div className="flex items-start gap-2">
        {onChange ? (
          <Input
            aria-label={t("test.nameCase", number)}
            placeholder={t("test.unnamed", number)}
            className="h-7! grow"
            value={one.name ?? ""}
            onChange={(event) => onChange({ ...one, name: event.target.value || undefined })}
          />
        ) : (
          <span className="grow font-medium">{one.name ?? t("test.unnamed", number)}</span>
        )}
        {answer && (
          <Badge tone={passed ? "ok" : "danger"} icon={passed ? CircleCheck : CircleX}>
            {t(passed ? "test.passed" : "test.failed")}
          </Badge>
        )}
        {onTry && <IconButton small icon={ClipboardPaste} label={t("test.tryCase", number)} onClick={onTry} />}
        {onEdit && <IconButton small icon={Pencil} label={t("test.editCase", number)} onClick={onEdit} />}
        {onRemove && <IconButton small icon={Trash2} label={t("test.removeCase", number)} onClick={onRemove} />}
      </div>
      <code className="break-all">{writeExact(one.arguments)}</code>
      <Expected one={one} at={at} onChange={onChange} />
      {answer && !passed && (
        <p className="text-danger">
          {t("test.got")}{" "}
          <code className="break-all">{answer.error ? answer.error.message : writeExact(answer.data)}</code>
        </p>
      )}
    </li>
  );
}

function Expected({ one, at, onChange }: Pick<Props, "one" | "at" | "onChange">) {
  const { t } = useTranslation("editor");
  const number = { number: at + 1 };
  const isPart = "expect_contains" in one;
  // As it is typed: a text that is on its way to an object is not rewritten under the hand.
  const stored = textOfPart(one.expect_contains ?? "");
  const [typed, setTyped] = useState(stored);
  const text = textOfPart(partOfText(typed)) === stored ? typed : stored;
  if (one.expect_error !== undefined)
    return <p className="text-muted">{t("test.expectsError", { code: one.expect_error })}</p>;
  const value = <code className="break-all">{writeExact(isPart ? one.expect_contains : one.expect)}</code>;
  if (!onChange)
    return (
      <p className="text-muted">
        {t(isPart ? "test.expectsPart" : "test.expects")} {value}
      </p>
    );
  return (
    <div className="flex flex-wrap items-center gap-2 text-muted">
      <Select
        aria-label={t("test.how", number)}
        className="h-7! w-auto!"
        value={isPart ? "part" : "all"}
        onChange={(event) => {
          const next = expecting(one, event.target.value as "all" | "part");
          setTyped(textOfPart(next.expect_contains ?? ""));
          onChange(next);
        }}
      >
        <option value="all">{t("test.expects")}</option>
        <option value="part">{t("test.expectsPart")}</option>
      </Select>
      {isPart ? (
        <Input
          aria-label={t("test.part", number)}
          className="h-7! min-w-32 grow font-mono"
          value={text}
          onChange={(event) => {
            setTyped(event.target.value);
            onChange({ ...one, expect_contains: partOfText(event.target.value) });
          }}
        />
      ) : (
        value
      )}
    </div>
  );
}
