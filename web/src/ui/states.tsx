// What stands where there is nothing yet, nothing that fits, something on its way, or something that failed.

import clsx from "clsx";
import i18next from "i18next";
import type { LucideIcon } from "lucide-react";
import { Copy, RotateCw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ApiError, sentenceOf, Unreachable } from "../api/errors";
import { PageMissing } from "../stale";
import { Button } from "./button";
import { copyText } from "./copy-text";
import { toast } from "./toast";

export function Empty({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon?: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="grid justify-items-center gap-2 px-4 py-14 text-center">
      {Icon && <Icon aria-hidden className="size-8 text-muted" />}
      <h2 className="text-base font-semibold">{title}</h2>
      {children && <div className="max-w-md text-muted">{children}</div>}
      {action && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** Shown only after a moment, so that what comes at once does not flicker. */
export function Skeleton({ rows = 6, className }: { rows?: number; className?: string }) {
  const { t } = useTranslation();
  return (
    <div
      role="status"
      data-status="loading"
      aria-label={t("loading")}
      className={clsx("grid animate-[appear_150ms_150ms_both] gap-2 p-4", className)}
    >
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={at} className="h-8 animate-pulse rounded bg-sunken" />
      ))}
    </div>
  );
}

/** What failed and what to do about it, and below it the server's own words where they say more. */
function toldOf(error: unknown): { what: string; detail?: string } {
  if (error instanceof Unreachable) return { what: i18next.t("unreachable") };
  if (error instanceof PageMissing) return { what: i18next.t("partMissing") };
  const detail = error instanceof Error ? error.message : String(error);
  const what = error instanceof ApiError ? sentenceOf(error.code) : undefined;
  return what ? { what, detail } : { what: detail };
}

export function messageOf(error: unknown): string {
  const { what, detail } = toldOf(error);
  return detail ? `${what}\n${detail}` : what;
}

/** What failed, the server's own words, what to quote when asking for help, and another try. */
export function Failed({ error, again, className }: { error: unknown; again?: () => void; className?: string }) {
  const { t } = useTranslation();
  const { what, detail } = toldOf(error);
  const id = error instanceof ApiError ? error.requestId : null;
  const copy = async () => (await copyText(`${messageOf(error)} (${id})`)) && toast(t("copied"));
  return (
    <div
      role="alert"
      className={clsx("flex items-start gap-2 rounded-md bg-danger-soft px-3 py-2 text-danger", className)}
    >
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="grow">
        <p className="whitespace-pre-wrap">{what}</p>
        {detail && <p className="mt-0.5 text-sm whitespace-pre-wrap">{detail}</p>}
        {id && <p className="text-xs">{t("requestId", { id })}</p>}
      </div>
      {id && (
        <Button small look="quiet" icon={Copy} onClick={copy}>
          {t("copy")}
        </Button>
      )}
      {again && (
        <Button small look="quiet" icon={RotateCw} onClick={again}>
          {t("tryAgain")}
        </Button>
      )}
    </div>
  );
}
