// Something to know before one goes on.

import clsx from "clsx";
import { CircleAlert, Eye, EyeOff, Info, type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { type Scope, useMay } from "../api/me";

type Tone = "info" | "warn" | "danger" | "plain";

const looks: Record<Tone, [string, LucideIcon]> = {
  plain: ["bg-sunken", Info],
  info: ["bg-info-soft text-info", Info],
  warn: ["bg-warn-soft text-warn", TriangleAlert],
  danger: ["bg-danger-soft text-danger", CircleAlert],
};

type Props = { tone?: Tone; icon?: LucideIcon; children: ReactNode; actions?: ReactNode; className?: string };

export function Note({ tone = "info", icon, children, actions, className }: Props) {
  const [look, usual] = looks[tone];
  const Icon = icon ?? usual;
  return (
    <div className={clsx("flex items-start gap-2 rounded-md px-3 py-2", look, className)}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="min-w-0 grow">{children}</div>
      {actions}
    </div>
  );
}

/** Said above a page to those who may only look. */
export function ReadOnly({ scope }: { scope: Scope }) {
  const { t } = useTranslation();
  const may = useMay(scope);
  if (may) return null;
  return (
    <Note tone="plain" icon={Eye} className="mb-4">
      {t("readOnly", { what: t(`scopes.${scope}`), scope })}
    </Note>
  );
}

/** Said in place of what only some may look at. */
export function NotToSee({ scope }: { scope: Scope }) {
  const { t } = useTranslation();
  const may = useMay(scope);
  if (may) return null;
  return (
    <Note tone="plain" icon={EyeOff} className="mb-4">
      {t("notToSee", { what: t(`scopes.${scope}`), scope })}
    </Note>
  );
}
