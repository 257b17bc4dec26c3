// A formula in Python, or a few lines that end in `result = …`.

import { Plus } from "lucide-react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { Code, type Mark } from "../../ui/code";
import { Note } from "../../ui/note";
import { parameter } from "./draft";
import type { StepProps } from "./editor-state";
import { namesIn } from "./names-in";

/** Where a message says that something is wrong: `… (line 1, column 13)`. */
export function markOf(message: string | undefined): Mark[] {
  const match = /\(line (\d+), column (\d+)\)/.exec(message ?? "");
  return match ? [{ line: Number(match[1]), column: Number(match[2]), message: message! }] : [];
}

export function LogicExpression({ draft, change, problem }: StepProps) {
  const { t } = useTranslation("programs");
  const text = String(draft.config.expression ?? "");
  const wrong = problem("config.expression");
  const marks = useMemo(() => markOf(wrong), [wrong]);
  const declared = new Set(draft.parameters.map((one) => one.name));
  const missing = namesIn(text).filter((name) => !declared.has(name));
  const declare = () =>
    change({ parameters: [...draft.parameters, ...missing.map((name) => parameter(name, { type: "number" }))] });
  return (
    <div className="grid gap-3">
      <p className="text-muted">{t("expression.about")}</p>
      {missing.length > 0 && !wrong && (
        <Note
          tone="warn"
          actions={
            <Button small icon={Plus} className="text-fg" onClick={declare}>
              {t("expression.addFound", { count: missing.length })}
            </Button>
          }
        >
          {t("expression.foundUndeclared", { names: missing.join(", ") })}
        </Note>
      )}
      <Code
        language="expression"
        label={t("expression.label")}
        value={text}
        onChange={(expression) => change({ config: { ...draft.config, expression } })}
        marks={marks}
        className="h-56"
      />
      {wrong && (
        <p role="alert" className="text-sm text-danger">
          {wrong}
        </p>
      )}
      <p className="text-sm text-muted">
        {t("expression.variables")}{" "}
        {draft.parameters.length > 0 ? (
          draft.parameters.map((one) => (
            <code key={one.id} className="mr-1.5 rounded bg-sunken px-1">
              {one.name}
            </code>
          ))
        ) : (
          <span>{t("expression.noVariables")}</span>
        )}
      </p>
    </div>
  );
}
