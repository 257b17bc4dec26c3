// A saved test as a form: what the tool is called with and what is expected of it. Loaded when somebody edits one or writes one.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Button } from "../../ui/button";
import { Field, Select, TextArea, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Dialog } from "../../ui/overlay";
import { isSecret, parseJson, type Schema } from "../../ui/schema";
import { SchemaForm, type Values } from "../../ui/schema-form";
import { Suggest } from "../../ui/suggest";
import { partOfText, textOfPart } from "./cases";
import type { Case } from "./draft";

type How = "all" | "part" | "error";

const CODES = "tool_execution_error invalid_input timeout upstream_error invalid_output output_too_large".split(" ");

const howOf = (one: Case): How =>
  one.expect_error !== undefined ? "error" : "expect_contains" in one ? "part" : "all";

const textsOf = (one: Case): Record<How, string> => ({
  all: one.expect === undefined ? "" : writeExact(one.expect, 2),
  part: one.expect_contains === undefined ? "" : textOfPart(one.expect_contains),
  error: one.expect_error ?? "",
});

/** What is expected, or nothing where the text does not say it. */
function expectedOf(how: How, text: string): Pick<Case, "expect" | "expect_contains" | "expect_error"> | undefined {
  if (text.trim() === "") return undefined;
  if (how === "part") return { expect_contains: partOfText(text) };
  if (how === "error") return { expect_error: text.trim() };
  const parsed = parseJson(text);
  return "value" in parsed ? { expect: parsed.value } : undefined;
}

type Props = { one: Case; schema: Schema; title: string; onDone: (one: Case) => void; onClose: () => void };

export default function CaseDialog({ one, schema, title, onDone, onClose }: Props) {
  const { t } = useTranslation(["testing", "editor", "frame"]);
  const [name, setName] = useState(one.name ?? "");
  const [args, setArgs] = useState<Values>(one.arguments);
  const [isRead, setRead] = useState(true);
  const [how, setHow] = useState(howOf(one));
  const [texts, setTexts] = useState(() => textsOf(one));
  const text = texts[how];
  const write = (typed: string) => setTexts({ ...texts, [how]: typed });
  const expected = expectedOf(how, text);
  const secrets = Object.entries(schema.properties ?? {})
    .filter(([parameter, said]) => isSecret(said) && args[parameter] !== undefined)
    .map(([parameter]) => parameter);
  const isWrong = text.trim() !== "" && !expected;
  return (
    <Dialog
      open
      firm
      wide
      onClose={onClose}
      title={title}
      about={t("testing:editAbout")}
      footer={
        <>
          <Button onClick={onClose}>{t("frame:cancel")}</Button>
          <Button
            look="primary"
            disabled={!expected || !isRead}
            onClick={() => expected && onDone({ ...(name.trim() ? { name } : {}), arguments: args, ...expected })}
          >
            {t("testing:take")}
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <TextField label={t("testing:name")} value={name} onChange={(event) => setName(event.target.value)} />
        <fieldset className="rounded-md border px-3 pt-1 pb-3">
          <legend className="px-1 text-sm font-medium">{t("testing:arguments")}</legend>
          <SchemaForm
            schema={schema}
            value={args}
            onChange={(next, ok) => {
              setArgs(next);
              setRead(ok);
            }}
          />
          {secrets.length > 0 && (
            <Note tone="warn" className="mt-3">
              {t("editor:test.keepsSecret", { names: secrets.join(", ") })}
            </Note>
          )}
        </fieldset>
        <Field label={t("testing:how")}>
          {(told) => (
            <Select {...told} value={how} onChange={(event) => setHow(event.target.value as How)}>
              {(["all", "part", "error"] as const).map((it) => (
                <option key={it} value={it}>
                  {t(`testing:hows.${it}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {how === "error" ? (
          <Suggest
            label={t("testing:code")}
            required
            options={CODES}
            value={text}
            onChange={(event) => write(event.target.value)}
          />
        ) : (
          <Field
            label={t(how === "all" ? "testing:value" : "testing:part")}
            required
            hint={t(how === "all" ? "testing:valueHint" : "testing:partHint")}
            problem={isWrong && t("testing:notJson")}
          >
            {(told) => (
              <TextArea
                {...told}
                aria-required
                className="font-mono"
                spellCheck={false}
                rows={Math.min(12, Math.max(3, text.split("\n").length))}
                value={text}
                onChange={(event) => write(event.target.value)}
              />
            )}
          </Field>
        )}
      </div>
    </Dialog>
  );
}
