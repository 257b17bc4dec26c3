// The saved tests of a tool around a save: run with what is being saved, so that nobody breaks one without knowing, and then with
// what is stored, so that the list says how they ended. Loaded when a tool that has tests is saved, or its tests are run.

import type { QueryClient } from "@tanstack/react-query";
import i18next from "i18next";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import type { TestReport } from "../../api/schema";
import { loadTexts } from "../../i18n";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/overlay";
import { toast } from "../../ui/toast";
import { CaseRow } from "./case-row";
import { keyOf, passes } from "./cases";
import { bodyOf, type Case, type Draft } from "./draft";
import { type Answer, toolQuery, tryTool } from "./queries";

export type Outcome = { one: Case; at: number; answer: Answer };

/** What comes of each test with a definition that is not saved. */
export async function runDraft(draft: Draft): Promise<Outcome[]> {
  const tool = bodyOf(draft);
  const outcomes: Outcome[] = [];
  for (const [at, one] of draft.tests.entries())
    outcomes.push({ one, at, answer: await tryTool(tool, one.arguments, new AbortController().signal) });
  return outcomes;
}

export const failedOf = (outcomes: Outcome[]) => outcomes.filter(({ one, answer }) => !passes(one, answer));

/** Runs the tests of the tool as it is stored; the server remembers how they ended. */
export const runStored = (name: string): Promise<TestReport> =>
  got(api.POST("/api/v1/tools/{name}/tests", { params: { path: { name } } }));

/** How the tests end with what was just saved, so that the list and the page of the tool say so. */
export async function testStored(queries: QueryClient, name: string) {
  const report = await runStored(name).catch(() => undefined);
  if (!report) return;
  void queries.invalidateQueries({ queryKey: toolQuery(name).queryKey });
  void queries.invalidateQueries({ queryKey: ["tools", "list"] });
  if (report.failed === 0) return;
  await loadTexts(["testing"]);
  const t = i18next.getFixedT(null, "testing");
  toast(t("stillFail", { count: report.failed, name }), { failed: true });
}

/** The answers in a report, by the tests that they belong to. */
export const answersOf = (report: TestReport): Record<string, Answer> =>
  Object.fromEntries(
    report.cases.map(({ arguments: args, data, error, execution_id }) => [
      keyOf({ arguments: args as Record<string, unknown> }),
      {
        status: error ? "error" : "success",
        data,
        error: (error ?? null) as Answer["error"],
        execution_id,
        message: "",
        tool_name: report.tool,
        elapsed: 0,
      },
    ]),
  );

/** Asked where running them may do something, or where some fail. */
export type Question = { failed: Outcome[] } | { count: number };

type Props = {
  question: Question;
  onClose: () => void;
  /** Saves, whatever the tests say. */
  onSave: () => void;
  onRun: () => void;
};

export default function SaveQuestion({ question, onClose, onSave, onRun }: Props) {
  const { t } = useTranslation(["testing", "frame"]);
  if ("count" in question)
    return (
      <Dialog
        open
        onClose={onClose}
        title={t("testing:runFirst", { count: question.count })}
        about={t("testing:runFirstAbout")}
        footer={
          <>
            <Button onClick={onSave}>{t("testing:saveUntested")}</Button>
            <Button look="primary" onClick={onRun}>
              {t("testing:runAndSave")}
            </Button>
          </>
        }
      >
        <p className="text-muted">{t("testing:runFirstHint")}</p>
      </Dialog>
    );
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t("testing:fails", { count: question.failed.length })}
      about={t("testing:failsAbout")}
      footer={
        <>
          <Button onClick={onClose}>{t("testing:goBack")}</Button>
          <Button look="danger" onClick={onSave}>
            {t("testing:saveAnyway")}
          </Button>
        </>
      }
    >
      <ul className="grid gap-2">
        {question.failed.map(({ one, at, answer }) => (
          <CaseRow key={at} one={one} at={at} answer={answer} />
        ))}
      </ul>
    </Dialog>
  );
}
