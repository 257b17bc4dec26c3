// What patterns fit among the tools that are there now.

import { useTranslation } from "react-i18next";
import { fitting } from "../patterns";
import { Badge } from "./badge";

export function Fits({ patterns, names }: { patterns: string[]; names: string[] }) {
  const { t } = useTranslation();
  return (
    <ul className="grid gap-1 text-xs empty:hidden">
      {patterns.map((pattern) => {
        const found = fitting(pattern, names);
        return (
          <li key={pattern} className="flex items-start gap-2">
            <code className="shrink-0">{pattern}</code>
            {found.length === 0 ? (
              <Badge tone="warn">{t("fitsNothing")}</Badge>
            ) : (
              <span className="line-clamp-2 text-muted">
                {t("fitsCount", { count: found.length })}: {found.slice(0, 20).join(", ")}
                {found.length > 20 && " …"}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
