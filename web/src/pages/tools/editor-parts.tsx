// Small parts of the editor: the label of a step, what stands beside the title, and whether something was written already.

import { Link } from "@tanstack/react-router";
import { Copy, History, ShieldQuestion } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge } from "../../ui/badge";
import { buttonClass } from "../../ui/button";
import type { Draft } from "./draft";
import type { Tool } from "./queries";
import { needsApproval } from "./testable";

/** Whether somebody has already written what a problem is about. */
export function hasValue(draft: Draft, path: string): boolean {
  const members = path.split(/[.[\]]+/).filter(Boolean);
  let value: unknown = { ...draft, input_schema: draft.parameters.length > 0 };
  for (const member of members) {
    if (typeof value !== "object" || value === null) return !!value;
    value = (value as Record<string, unknown>)[member];
  }
  return Array.isArray(value) ? value.some(Boolean) : !!value;
}

type LabelProps = { number: number; text: string; state: "done" | "open" | "wrong"; isOpen: boolean };

/** On a narrow screen only the step that is open is written out, so that all four are seen. */
export function StepLabel({ number, text, state, isOpen }: LabelProps) {
  const { t } = useTranslation("editor");
  const tone = { done: "bg-ok", open: "bg-transparent border border-strong", wrong: "bg-danger" }[state];
  return (
    <span className="flex items-center gap-2" data-status={state}>
      <span aria-hidden className={`size-2 rounded-full ${tone}`} />
      <span aria-hidden className="text-muted">
        {number}
      </span>
      <span className={isOpen ? undefined : "max-sm:sr-only"}>{text}</span>
      {state === "wrong" && <span className="sr-only">({t("steps.wrong")})</span>}
    </span>
  );
}

export function StoredActions({ tool, dirty }: { tool: Tool; dirty: boolean }) {
  const { t } = useTranslation(["editor", "tools"]);
  const path = `/tools/${encodeURIComponent(tool.name)}`;
  return (
    <>
      {dirty && <Badge tone="warn">{t("editor:unsavedShort")}</Badge>}
      {needsApproval(tool.approval) && (
        <Badge tone="info" icon={ShieldQuestion}>
          {t("tools:needsApproval")}
        </Badge>
      )}
      {!!tool.tested?.failed && <Badge tone="danger">{t("tools:testsFailed", { count: tool.tested.failed })}</Badge>}
      <Badge>{t("editor:version", { version: tool.version })}</Badge>
      <Link to="/tools/new" search={{ from: tool.name } as never} className={buttonClass("plain")}>
        <Copy aria-hidden className="size-4" />
        {t("editor:clone")}
      </Link>
      <Link to={`${path}/versions`} className={buttonClass("plain")}>
        <History aria-hidden className="size-4" />
        {t("editor:history")}
      </Link>
    </>
  );
}
