// What a run asks somebody: a question with a form for its answer, or a call that has to be decided on.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleHelp, ShieldQuestion } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { problemsOf } from "../../api/errors";
import { useMay } from "../../api/me";
import { writeExact } from "../../exact";
import { isModEnter } from "../../keys";
import { Button } from "../../ui/button";
import { Field, TextArea } from "../../ui/field";
import { defaultsOf, type Schema } from "../../ui/schema";
import { SchemaForm, type Values } from "../../ui/schema-form";
import { Failed } from "../../ui/states";
import { Ticks } from "../../ui/ticks";
import { inOneLine } from "../executions/curl";
import { useBegun, withoutSecrets } from "./begun";
import { giveReply, type Reply } from "./queries";
import type { AskBlock } from "./transcript";
import { isTypeable } from "./typed-answer";

/** Where one talks; the page has one at most. */
export const COMPOSER = "composer";

function useAnswer(run: string, request: string, onGiven: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (reply: Reply) => giveReply(run, request, reply),
    onSuccess: onGiven,
    onSettled: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
}

/** What an answer was, in a few words. */
function Answered({ ask }: { ask: AskBlock }) {
  const { t } = useTranslation("runs");
  const { answer, by, isDeclined } = ask.answered!;
  const decision = ask.about === "approval" ? (answer as { decision?: string; text?: string } | null) : null;
  const known = ["approve", "always", "edit", "reject", "respond"] as const;
  const made = known.find((one) => one === decision?.decision);
  const said = made ? [t(`decided.${made}`), decision?.text].filter(Boolean).join(": ") : inOneLine(answer);
  const text = isDeclined ? t("declined") : said;
  return (
    <p className="text-sm text-muted">
      <Ticks text={ask.question} /> — <span className="font-medium text-fg">{text}</span> ({by})
    </p>
  );
}

// An answer that is no object is asked for as the one field of one.
function wrapped(schema: Schema | null): { schema: Schema; isWrapped: boolean } {
  if (schema?.type === "object" && schema.properties) return { schema, isWrapped: false };
  const answer: Schema = schema && Object.keys(schema).length > 0 ? schema : { type: "string" };
  return { schema: { type: "object", properties: { answer }, required: ["answer"] }, isWrapped: true };
}

function Question({ run, ask }: { run: string; ask: AskBlock }) {
  const { t } = useTranslation("runs");
  const { schema, isWrapped } = wrapped(ask.schema);
  const [value, , setValue, done] = useBegun<Values>(
    run,
    ask.id,
    () => defaultsOf(schema),
    (now) => withoutSecrets(schema, now),
  );
  const [isGood, setGood] = useState(true);
  const answer = useAnswer(run, ask.id, done);
  const form = useRef<HTMLFormElement>(null);
  // Whoever has just asked goes on typing where they are led: at the first field, where one line cannot answer it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it is asked
  useEffect(() => {
    const typing = document.activeElement as HTMLTextAreaElement | null;
    if (typing?.id === COMPOSER && typing.value === "" && !isTypeable(ask.schema))
      form.current?.querySelector<HTMLElement>("input, textarea, select:not([aria-label])")?.focus();
  }, []);
  const give = () => answer.mutate({ answer: isWrapped ? value.answer : value });
  const change = (next: Values, ok: boolean) => {
    setValue(next);
    setGood(ok);
  };
  return (
    <form
      ref={form}
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (isGood && !answer.isPending) give();
      }}
      onKeyDown={(event) => {
        // In a field of several lines Enter begins one.
        if (isModEnter(event.nativeEvent)) event.currentTarget.requestSubmit();
      }}
    >
      <SchemaForm schema={schema} value={value} onChange={change} problems={problemsOf(answer.error)} />
      {answer.error && <Failed error={answer.error} />}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" busy={answer.isPending} disabled={!isGood}>
          {t("answer")}
        </Button>
        <Button disabled={answer.isPending} onClick={() => answer.mutate({ decline: true })}>
          {t("decline")}
        </Button>
      </div>
    </form>
  );
}

type Way = "edit" | "reject" | "respond";
type Begun = { way?: Way; args: Values; text: string };

function Approval({ run, ask }: { run: string; ask: AskBlock }) {
  const { t } = useTranslation(["runs", "frame"]);
  const [{ way, args, text }, change, , done] = useBegun<Begun>(run, ask.id, () => ({
    args: ask.arguments ?? {},
    text: "",
  }));
  const [isGood, setGood] = useState(true);
  const answer = useAnswer(run, ask.id, done);
  const decide = (decision: string) => {
    const more = decision === "edit" ? { arguments: args } : text.trim() ? { text: text.trim() } : {};
    answer.mutate({ answer: { decision, ...(decision === "approve" || decision === "always" ? {} : more) } });
  };
  const schema: Schema = {
    type: "object",
    properties: Object.fromEntries(Object.keys(ask.arguments ?? {}).map((key) => [key, shapeOf(ask.arguments?.[key])])),
  };
  return (
    <div className="grid gap-3">
      <pre className="max-h-60 overflow-auto rounded-md border bg-sunken p-2 text-sm whitespace-pre-wrap">
        <span className="font-semibold">{ask.tool}</span> {writeExact(ask.arguments, 2)}
      </pre>
      {way === "edit" && (
        <SchemaForm
          schema={schema}
          value={args}
          problems={problemsOf(answer.error)}
          onChange={(next, ok) => {
            change({ args: next });
            setGood(ok);
          }}
        />
      )}
      {(way === "reject" || way === "respond") && (
        <Field label={t(`why.${way}`)} required={way === "respond"}>
          {(told) => <TextArea {...told} value={text} onChange={(event) => change({ text: event.target.value })} />}
        </Field>
      )}
      {answer.error && <Failed error={answer.error} />}
      <div className="flex flex-wrap gap-2">
        {way ? (
          <>
            <Button
              look="primary"
              busy={answer.isPending}
              disabled={(way === "edit" && !isGood) || (way === "respond" && !text.trim())}
              onClick={() => decide(way)}
            >
              {t(`decide.${way}Now`)}
            </Button>
            <Button onClick={() => change({ way: undefined })}>{t("frame:cancel")}</Button>
          </>
        ) : (
          <>
            <Button look="primary" busy={answer.isPending} onClick={() => decide("approve")}>
              {t("decide.approve")}
            </Button>
            <Button disabled={answer.isPending} onClick={() => decide("always")}>
              {t("decide.always")}
            </Button>
            <Button onClick={() => change({ way: "edit" })}>{t("decide.edit")}</Button>
            <Button onClick={() => change({ way: "respond" })}>{t("decide.respond")}</Button>
            <Button look="danger" onClick={() => change({ way: "reject" })}>
              {t("decide.reject")}
            </Button>
          </>
        )}
      </div>
    </div>
  );
}

/** What is known of an argument whose schema is not: that it stays what it is. */
function shapeOf(value: unknown): Schema {
  if (typeof value === "string") return { type: "string" };
  if (typeof value === "number") return { type: "number" };
  if (typeof value === "boolean") return { type: "boolean" };
  return {};
}

/** Whether the form says by itself all that the question does: it names each of its fields. */
const isInForm = ({ about, question, schema }: AskBlock) => {
  const names = Object.keys(schema?.properties ?? {});
  return about === "question" && names.length > 0 && names.every((name) => question.includes(`\`${name}\``));
};

export function Ask({ run, ask, isOver }: { run: string; ask: AskBlock; isOver: boolean }) {
  const { t } = useTranslation("runs");
  const mayAnswer = useMay("call");
  if (ask.answered) return <Answered ask={ask} />;
  const Icon = ask.about === "approval" ? ShieldQuestion : CircleHelp;
  return (
    <section
      aria-label={ask.question}
      data-ask={ask.about}
      className="grid grid-cols-[minmax(0,1fr)] gap-3 rounded-lg border-2 border-warn/50 bg-panel p-4"
    >
      <div className="flex items-start gap-2">
        <Icon aria-hidden className="mt-0.5 size-5 shrink-0 text-warn" />
        <div>
          <p className="font-medium whitespace-pre-wrap">
            {!isOver && isInForm(ask) ? (
              t("needsValues", { count: Object.keys(ask.schema?.properties ?? {}).length })
            ) : ask.about === "approval" && ask.tool ? (
              t("mayBeCalled", { tool: ask.tool })
            ) : (
              <Ticks text={ask.question} />
            )}
          </p>
          {ask.about === "question" && ask.tool && (
            <p className="text-sm text-muted">{t("forTool", { tool: ask.tool })}</p>
          )}
          {ask.because && <p className="text-sm text-muted">{ask.because}</p>}
        </div>
      </div>
      {isOver ? (
        <p className="text-sm text-muted">{t("neverAnswered")}</p>
      ) : !mayAnswer ? (
        <p className="text-sm text-muted">{t("mayNotAnswer")}</p>
      ) : ask.about === "approval" ? (
        <Approval run={run} ask={ask} />
      ) : (
        <Question run={run} ask={ask} />
      )}
    </section>
  );
}
