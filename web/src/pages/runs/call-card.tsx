// A tool's call in a run: what it was given, how it went, and the way to its entry in the log.

import { Link } from "@tanstack/react-router";
import { Ban, ChevronRight, CircleCheck, CircleX, LoaderCircle, ShieldQuestion } from "lucide-react";
import { memo, useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Coded } from "../../ui/coded";
import { duration } from "../../ui/time";
import { inOneLine } from "../executions/curl";
import { Answer } from "./answer";
import { type CallBlock, isCallOpen, outcomeOf } from "./transcript";

type Props = { call: CallBlock; isLast: boolean; isOver: boolean };

const looks = {
  waiting: [ShieldQuestion, "text-warn"],
  running: [LoaderCircle, "text-info animate-spin"],
  done: [CircleCheck, "text-ok"],
  failed: [CircleX, "text-danger"],
  stopped: [Ban, "text-muted"],
} as const;

export const CallCard = memo(function CallCard({ call, isLast, isOver }: Props) {
  const { t } = useTranslation("runs");
  const [chosen, setChosen] = useState<boolean>();
  const outcome = outcomeOf(call, isOver);
  const isOpen = isCallOpen(isOver ? { ...call, state: "done" } : call, isLast && !isOver, chosen);
  const [Icon, colour] = looks[outcome];
  return (
    <div
      className="rounded-lg border bg-panel"
      data-status={outcome === "stopped" || outcome === "waiting" ? outcome : call.state}
      data-tool={call.tool}
    >
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setChosen(!isOpen)}
        className="flex w-full items-center gap-2 px-3 py-2 text-left"
      >
        <Icon aria-hidden className={`size-4 shrink-0 ${colour}`} />
        <span className="shrink-0 font-mono text-sm font-medium">{call.tool}</span>
        <span className={outcome === "waiting" ? "shrink-0 text-sm text-warn" : "sr-only"}>{t(`call.${outcome}`)}</span>
        <span className="min-w-0 grow truncate font-mono text-xs text-muted">
          {call.progress && outcome === "running" ? call.progress : inOneLine(call.arguments)}
        </span>
        {call.code && (
          <span className="hidden shrink-0 text-xs text-danger sm:inline">
            <Coded kind="error" code={call.code} />
          </span>
        )}
        {call.elapsed !== undefined && (
          <span className="shrink-0 text-xs text-muted tabular-nums">{duration(call.elapsed)}</span>
        )}
        <ChevronRight aria-hidden className={`size-4 shrink-0 text-muted ${isOpen ? "rotate-90" : ""}`} />
      </button>
      {isOpen && (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-2 border-t px-3 py-2 text-sm">
          <div>
            <p className="text-xs text-muted">{t("call.arguments")}</p>
            <pre className="max-h-60 overflow-auto whitespace-pre-wrap">{writeExact(call.arguments, 2)}</pre>
          </div>
          {call.text !== undefined && (
            <div>
              <p className="text-xs text-muted">{call.state === "failed" ? t("call.error") : t("call.result")}</p>
              {call.state === "failed" ? (
                <pre className="max-h-60 overflow-auto whitespace-pre-wrap text-danger">{call.text}</pre>
              ) : (
                <Answer text={call.text}>
                  <pre className="max-h-60 overflow-auto whitespace-pre-wrap">{call.text}</pre>
                </Answer>
              )}
              {call.isCut && <p className="text-xs text-warn">{t("call.isCut")}</p>}
            </div>
          )}
          {call.executionId && (
            <Link to={`/executions/${call.executionId}` as never} className="text-accent-text">
              {t("call.execution")}
            </Link>
          )}
        </div>
      )}
    </div>
  );
});
