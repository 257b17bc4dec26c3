// Arguments, a run, and what came of it. The same in the drawer of the list and in the editor.

import { Play, Square } from "lucide-react";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { problemsOf } from "../../api/errors";
import { isModEnter, shownKeys } from "../../keys";
import { Button } from "../../ui/button";
import { firstValue, type Schema } from "../../ui/schema";
import { SchemaForm, type Values } from "../../ui/schema-form";
import { Failed, Skeleton } from "../../ui/states";
import { offered } from "./pinned";
import { type Answer, callTool, type Tool } from "./queries";
import { keepArguments, keptArguments } from "./tries";
import { useRun } from "./use-run";
import { writes } from "./writing";

const Result = lazy(async () => ({ default: (await import("../../ui/result")).Result }));
const WritesDialog = lazy(() => import("./writes-dialog"));

type Props = {
  /** Under which name arguments and answer are kept. */
  keep: string;
  schema: Schema;
  run: (args: Values, signal: AbortSignal) => Promise<Answer>;
  onAnswer?: (args: Values, answer: Answer) => void;
  /** Shown below an answer. */
  after?: (args: Values, answer: Answer) => ReactNode;
  /** Arguments to begin with, such as those of a saved test. */
  start?: Values;
  /** Whether a run may change something, so that it is asked first. */
  writes?: boolean;
  /** Why it cannot be run as it stands. */
  blocked?: string;
};

export function Tester({ keep, schema: whole, run, onAnswer, after, start, writes: mayWrite, blocked }: Props) {
  const { t } = useTranslation("tools");
  const schema = useMemo(() => offered(whole), [whole]);
  const [args, setArgs] = useState<Values>(() => start ?? keptArguments(keep) ?? firstValue(schema));
  const [ok, setOk] = useState(true);
  const ran = useRef<Values>(args);
  const state = useRun(keep);
  const place = useRef<HTMLDivElement>(null);
  const change = useCallback(
    (next: Values, good: boolean) => {
      setArgs(next);
      setOk(good);
      keepArguments(keep, next);
    },
    [keep],
  );
  const [begun, setBegun] = useState(start);
  if (start !== begun) {
    setBegun(start);
    if (start) setArgs(start);
  }
  const [asking, setAsking] = useState(false);
  const runNow = async () => {
    ran.current = args;
    const answer = await state.start((signal) => run(args, signal));
    if (answer) onAnswer?.(args, answer);
  };
  const go = () => {
    if (!ok || blocked || state.running) return;
    if (mayWrite) setAsking(true);
    else void runNow();
  };
  const latest = useRef(go);
  latest.current = go;
  // Where the tester is shown, Mod+Enter runs it: from the drawer, from a field, from the page around it.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isModEnter(event) || event.defaultPrevented) return;
      if (document.querySelector("[role=dialog]") && !place.current?.closest("[role=dialog]")) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  const problems = problemsOf(state.answer?.error ?? undefined);
  return (
    <div ref={place} className="grid gap-4" data-status={state.running ? "running" : (state.answer?.status ?? "idle")}>
      <SchemaForm schema={schema} value={args} onChange={change} problems={problems} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          look="primary"
          icon={Play}
          disabled={!ok || !!blocked}
          busy={state.running}
          onClick={go}
          title={shownKeys("mod+enter")[0]}
        >
          {t("testRun")}
        </Button>
        <kbd className="text-xs text-muted">{shownKeys("mod+enter")[0]}</kbd>
        {state.running && (
          <>
            <span className="text-sm text-muted tabular-nums">{state.elapsed.toFixed(1)} s</span>
            <Button small icon={Square} onClick={state.cancel}>
              {t("stop")}
            </Button>
          </>
        )}
        {(!ok || blocked) && <span className="text-sm text-danger">{blocked ?? t("notYet")}</span>}
      </div>
      {state.error !== undefined && <Failed error={state.error} />}
      {state.answer && (
        <Suspense fallback={<Skeleton rows={2} />}>
          <Result answer={state.answer} />
          {after?.(ran.current, state.answer)}
        </Suspense>
      )}
      <AskToWrite open={asking} onClose={() => setAsking(false)} onConfirm={() => void runNow()} />
    </div>
  );
}

type AskProps = { open: boolean; onClose: () => void; onConfirm: () => void };

/** The question before something is run that writes. */
export const AskToWrite = ({ open, ...rest }: AskProps) =>
  open && (
    <Suspense>
      <WritesDialog {...rest} />
    </Suspense>
  );

/** Tries a tool that is stored. */
export function ToolTester({ tool }: { tool: Tool }) {
  const run = useCallback((args: Values, signal: AbortSignal) => callTool(tool.name, args, signal), [tool.name]);
  return <Tester keep={tool.name} schema={tool.input_schema as Schema} run={run} writes={writes(tool)} />;
}
