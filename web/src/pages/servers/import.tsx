// Several servers at once, pasted as a desktop client keeps them.

import { CircleCheck, CircleX } from "lucide-react";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Code } from "../../ui/code";
import { Check } from "../../ui/field";
import { Dialog } from "../../ui/overlay";
import { messageOf } from "../../ui/states";
import { parseServers } from "./parse";
import { create } from "./queries";

export function ImportServers({ taken, onClose }: { taken: string[]; onClose: () => void }) {
  const { t } = useTranslation(["servers", "frame"]);
  const [text, setText] = useState("");
  const [out, setOut] = useState<Set<string>>(new Set());
  const [ended, setEnded] = useState<Record<string, string | true>>({});
  const [busy, setBusy] = useState(false);
  const parsed = useMemo(() => parseServers(text), [text]);
  const wanted = parsed.found.filter(
    (one) => !out.has(one.name) && !taken.includes(one.name) && ended[one.name] !== true,
  );
  const add = async () => {
    setBusy(true);
    for (const { name, definition } of wanted) {
      const outcome = await create({ name, ...definition }).then(() => true as const, messageOf);
      setEnded((before) => ({ ...before, [name]: outcome }));
    }
    setBusy(false);
  };
  const isDone = parsed.found.length > 0 && wanted.length === 0;
  return (
    <Dialog
      open
      wide
      // What is being added, and what was refused, is shown here alone.
      firm={busy}
      onClose={onClose}
      title={t("import.title")}
      about={t("import.about")}
      footer={
        isDone ? (
          <Button look="primary" onClick={onClose}>
            {t("frame:close")}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t("frame:cancel")}</Button>
            <Button look="primary" busy={busy} disabled={wanted.length === 0} onClick={add}>
              {t("import.add", { count: wanted.length })}
            </Button>
          </>
        )
      }
    >
      <div className="grid gap-3">
        <Code language="json" label={t("import.label")} value={text} onChange={setText} className="h-52" />
        {text.trim() && parsed.problem && (
          <p role="alert" className="text-danger">
            {t(`import.${parsed.problem}`)} {parsed.detail}
          </p>
        )}
        <ul className="divide-y rounded-md border empty:hidden">
          {parsed.found.map((one) => {
            const end = ended[one.name];
            const isTaken = taken.includes(one.name) && !end;
            return (
              <li key={one.name} className="grid gap-1 px-3 py-2">
                <div className="flex flex-wrap items-center gap-2">
                  <Check
                    label={<span className="font-mono font-medium">{one.name}</span>}
                    checked={!out.has(one.name) && !isTaken}
                    disabled={isTaken || end === true || busy}
                    onChange={(event) => {
                      const next = new Set(out);
                      if (event.target.checked) next.delete(one.name);
                      else next.add(one.name);
                      setOut(next);
                    }}
                  />
                  <span className="min-w-0 grow truncate font-mono text-xs text-muted">
                    {one.definition.url ?? [one.definition.command, ...(one.definition.args ?? [])].join(" ")}
                  </span>
                  {isTaken && <Badge tone="warn">{t("import.taken")}</Badge>}
                  {end === true && (
                    <Badge tone="ok" icon={CircleCheck}>
                      {t("import.added")}
                    </Badge>
                  )}
                  {typeof end === "string" && (
                    <Badge tone="danger" icon={CircleX}>
                      {t("import.refused")}
                    </Badge>
                  )}
                </div>
                {one.left.length > 0 && (
                  <p className="text-xs text-muted">{t("import.left", { names: one.left.join(", ") })}</p>
                )}
                {typeof end === "string" && <p className="text-sm text-danger">{end}</p>}
              </li>
            );
          })}
        </ul>
      </div>
    </Dialog>
  );
}
