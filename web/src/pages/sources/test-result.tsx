// What a test of a source found, as sentences: whether it answers, and that reading is all a query can do there.

import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import type { SourceTest } from "../../api/schema";
import { CopyButton } from "../../ui/copy";

type Line = { tone: "ok" | "warn" | "danger"; text: ReactNode };

const icons = { ok: CircleCheck, warn: TriangleAlert, danger: CircleX };
const colours = { ok: "text-ok", warn: "text-warn", danger: "text-danger" };

export function TestResult({ found }: { found: SourceTest }) {
  const { t } = useTranslation("sources");
  const lines: Line[] = [];
  if (found.works) {
    lines.push({ tone: "ok", text: t("test.works", { version: found.version ?? "?" }) });
    if (found.role) lines.push({ tone: "ok", text: t("test.role", { role: found.role }) });
    if (found.read_only) lines.push({ tone: "ok", text: t("test.readOnly", { words: found.read_only }) });
    lines.push(found.is_bound ? { tone: "ok", text: t("test.bound") } : { tone: "danger", text: t("test.unbound") });
    if (found.allow_write) {
      lines.push({ tone: "warn", text: t(found.may_write ? "test.writes" : "test.writesNothing") });
    }
    if (found.allow_superuser) lines.push({ tone: "warn", text: t("test.superuser") });
  }
  for (const warning of found.warnings) lines.push({ tone: "warn", text: warning });
  return (
    <div role="status" data-status={found.works ? "works" : "fails"} className="grid gap-1.5">
      {found.problem && (
        <div className="flex items-start gap-2 rounded-md bg-danger-soft px-3 py-2 text-danger">
          <CircleX aria-hidden className="mt-0.5 size-4 shrink-0" />
          <div className="grow">
            <p className="font-medium">{t("test.fails")}</p>
            <code className="whitespace-pre-wrap">{found.problem}</code>
          </div>
          <CopyButton text={found.problem} />
        </div>
      )}
      <ul className="grid gap-1">
        {lines.map((line, at) => {
          const Icon = icons[line.tone];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
            <li key={at} className="flex items-start gap-2">
              <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${colours[line.tone]}`} />
              <span>{line.text}</span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
