// The fourth step: try it, keep what was tried as a test, take the shape of the answer, save.

import { useQueryClient } from "@tanstack/react-query";
import { BookmarkPlus, ListChecks, Plus, Trash2 } from "lucide-react";
import { lazy, Suspense, useCallback, useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Json } from "../../ui/json";
import { Note } from "../../ui/note";
import { Card } from "../../ui/page";
import { firstValue, isSecret } from "../../ui/schema";
import type { Values } from "../../ui/schema-form";
import { messageOf } from "../../ui/states";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { CaseRow } from "./case-row";
import { keyOf, same } from "./cases";
import { bodyOf, type Case, inferred, isSealed, schemaOf, unreadIn } from "./draft";
import type { StepProps } from "./editor-state";
import { offered } from "./pinned";
import { type Answer, callTool, type Tool, toolQuery, tryTool } from "./queries";
import { AskToWrite, Tester } from "./tester";
import { writes } from "./writing";

const CaseDialog = lazy(() => import("./case-dialog"));

/** The arguments of a past call to begin with, and which of them were secret: the log does not keep those. */
export type Given = { values: Values; hidden: string[] };

type Props = StepProps & {
  stored?: Tool;
  may: boolean;
  given?: Given;
  onTried: (isWell: boolean) => void;
};

export function TestStep({ draft, change, problem, dirty, keep, stored, may, given, onTried }: Props) {
  const { t } = useTranslation("editor");
  const [start, setStart] = useState(given?.values);
  const [outcomes, setOutcomes] = useState<Record<string, Answer>>({});
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  // Which test is being edited; one behind the last is new.
  const [edited, setEdited] = useState<number>();
  const schema = offered(schemaOf(draft));
  const sealed = isSealed(draft);
  const blocked = unreadIn(draft).length > 0 ? t("unread") : sealed && dirty ? t("test.sealed") : undefined;
  const queries = useQueryClient();
  // What is not saved yet is tried as it stands here; what only runs as it is stored is called.
  const run = useCallback(
    (args: Values, signal: AbortSignal) =>
      !may || sealed
        ? callTool(draft.name, args, signal)
        : tryTool(
            { ...bodyOf(draft), name: draft.name || "untitled", description: draft.description || "…" },
            args,
            signal,
          ),
    [draft, may, sealed],
  );
  const secretsIn = (args: Values) =>
    draft.parameters
      .filter(({ name, schema }) => isSecret(schema) && args[name.trim()] !== undefined)
      .map(({ name }) => name);
  const keepTest = (args: Values, answer: Answer) => {
    const one: Case =
      answer.status === "success"
        ? { arguments: args, expect: answer.data }
        : { arguments: args, expect_error: answer.error?.code ?? "tool_execution_error" };
    // It was not run as it is now.
    setOutcomes(({ [keyOf(one)]: _, ...others }) => others);
    const before = draft.tests.find((it) => same(it.arguments, args));
    const named = before?.name ? { name: before.name, ...one } : one;
    change({ tests: [...draft.tests.filter((it) => it !== before), named] });
    toast(t("test.kept"));
  };
  const runAll = async () => {
    setBusy(true);
    setOutcomes({});
    try {
      if (stored && !dirty) {
        const { answersOf, runStored } = await import("./saved-tests");
        setOutcomes(answersOf(await runStored(stored.name)));
        void queries.invalidateQueries({ queryKey: toolQuery(stored.name).queryKey });
        void queries.invalidateQueries({ queryKey: ["tools", "list"] });
      } else {
        for (const one of draft.tests) {
          const answer = await run(one.arguments, new AbortController().signal);
          setOutcomes((before) => ({ ...before, [keyOf(one)]: answer }));
        }
      }
    } catch (error) {
      toast(messageOf(error), { failed: true });
    }
    setBusy(false);
  };
  return (
    <div className="grid grid-cols-1 items-start gap-6 xl:grid-cols-[minmax(0,1fr)_minmax(0,28rem)]">
      <Card title={t("test.try")}>
        {given && given.hidden.length > 0 && (
          <Note className="mb-3">{t("test.hidden", { names: given.hidden.join(", ") })}</Note>
        )}
        <Tester
          keep={keep}
          schema={schemaOf(draft)}
          run={run}
          start={start}
          writes={writes(draft)}
          blocked={blocked}
          onAnswer={(_, answer) => onTried(answer.status === "success")}
          after={(args, answer) =>
            may && (
              <div className="flex flex-wrap gap-2">
                {secretsIn(args).length > 0 && (
                  <Note tone="warn" className="basis-full">
                    {t("test.keepsSecret", { names: secretsIn(args).join(", ") })}
                  </Note>
                )}
                <Button small icon={BookmarkPlus} onClick={() => keepTest(args, answer)}>
                  {t("test.keep")}
                </Button>
                {answer.status === "success" && (
                  <Button small onClick={() => change({ output_schema: inferred(answer.data) })}>
                    {t("test.takeSchema")}
                  </Button>
                )}
              </div>
            )
          }
        />
      </Card>
      <div className="grid min-w-0 grid-cols-1 gap-4">
        <Card
          title={t("test.cases", { count: draft.tests.length })}
          actions={
            <>
              {may && (
                <Button small icon={Plus} onClick={() => setEdited(draft.tests.length)}>
                  {t("test.writeCase")}
                </Button>
              )}
              {draft.tests.length > 0 && (
                <Button
                  small
                  icon={ListChecks}
                  busy={busy}
                  disabled={!!blocked}
                  onClick={() => (writes(draft) ? setAsking(true) : void runAll())}
                >
                  {t("test.runAll")}
                </Button>
              )}
            </>
          }
        >
          {stored?.tested && <LastRun tested={stored.tested} />}
          {problem("tests") && <p className="mb-2 text-sm text-danger">{problem("tests")}</p>}
          {draft.tests.length === 0 && <p className="text-muted">{t("test.noCases")}</p>}
          <ul className="grid gap-2">
            {draft.tests.map((one, at) => (
              <CaseRow
                // biome-ignore lint/suspicious/noArrayIndexKey: a test is its place
                key={at}
                one={one}
                at={at}
                answer={outcomes[keyOf(one)]}
                onTry={() => setStart({ ...one.arguments })}
                onEdit={may ? () => setEdited(at) : undefined}
                onChange={may ? (next) => change({ tests: draft.tests.with(at, next) }) : undefined}
                onRemove={may ? () => change({ tests: draft.tests.toSpliced(at, 1) }) : undefined}
              />
            ))}
          </ul>
        </Card>
        <Card
          title={t("test.outputSchema")}
          actions={
            may &&
            draft.output_schema !== undefined && (
              <IconButton
                small
                icon={Trash2}
                label={t("test.dropSchema")}
                onClick={() => change({ output_schema: undefined })}
              />
            )
          }
        >
          {problem("output_schema") && <p className="mb-2 text-sm text-danger">{problem("output_schema")}</p>}
          {draft.output_schema === undefined ? (
            <p className="text-muted">{t("test.noSchema")}</p>
          ) : (
            <Json value={draft.output_schema} label={t("test.outputSchema")} className="max-h-72 overflow-auto!" />
          )}
        </Card>
      </div>
      {edited !== undefined && (
        <Suspense>
          <CaseDialog
            one={draft.tests[edited] ?? { arguments: firstValue(schema) }}
            schema={schema}
            title={draft.tests[edited] ? t("test.editCase", { number: edited + 1 }) : t("test.writeCase")}
            onClose={() => setEdited(undefined)}
            onDone={(one) => {
              // It was not run as it is now.
              setOutcomes(({ [keyOf(one)]: _, ...others }) => others);
              change({ tests: draft.tests.toSpliced(edited, 1, one) });
              setEdited(undefined);
            }}
          />
        </Suspense>
      )}
      <AskToWrite open={asking} onClose={() => setAsking(false)} onConfirm={() => void runAll()} />
    </div>
  );
}

function LastRun({ tested }: { tested: NonNullable<Tool["tested"]> }) {
  const { t } = useTranslation(["editor", "tools"]);
  return (
    <p className="mb-2 flex flex-wrap items-center gap-x-2 text-sm text-muted">
      {t("editor:test.lastRun")} <When at={tested.ran_at} />
      {tested.failed > 0 ? (
        <Badge tone="danger">{t("tools:testsFailed", { count: tested.failed })}</Badge>
      ) : (
        <Badge tone={tested.is_current ? "ok" : "plain"}>{t("editor:test.passed")}</Badge>
      )}
      {!tested.is_current && <span>· {t("editor:test.outdated")}</span>}
    </p>
  );
}
