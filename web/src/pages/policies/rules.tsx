// The rules in their order, as sentences. J and K go through them, Enter or E changes one, N begins a new one.

import { ArrowDown, ArrowUp, Pencil, Shield, Trash2 } from "lucide-react";
import { useCallback, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { problemAt } from "../../api/errors";
import type { RuleText } from "../../api/schema";
import { type Shortcut, useShortcuts } from "../../keys";
import { Badge } from "../../ui/badge";
import { IconButton } from "../../ui/button";
import { Empty } from "../../ui/states";
import { sentences } from "./sentence";

type Props = {
  rules: RuleText[];
  error: unknown;
  onChange: (rules: RuleText[]) => void;
  onEdit: (at: number) => void;
  onNew: () => void;
};

/** The focus goes to what changes a rule, which Enter then does. */
function useRuleKeys(count: number, onEdit: (at: number) => void, onNew: () => void) {
  const { t } = useTranslation("policies");
  const list = useRef<HTMLOListElement>(null);
  const now = useRef({ count, onEdit, onNew });
  now.current = { count, onEdit, onNew };
  const focus = useCallback(
    (at: number) => list.current?.children[at]?.querySelector<HTMLElement>("[data-edit]")?.focus(),
    [],
  );
  const shortcuts = useMemo<Shortcut[]>(() => {
    const at = () => [...(list.current?.children ?? [])].findIndex((one) => one.contains(document.activeElement));
    const go = (by: number) => {
      const from = at();
      const first = by > 0 ? 0 : now.current.count - 1;
      focus(from < 0 ? first : Math.min(now.current.count - 1, Math.max(0, from + by)));
    };
    return [
      { id: "rule-next", keys: "j", label: t("keys.next"), run: () => go(1) },
      { id: "rule-before", keys: "k", label: t("keys.before"), run: () => go(-1) },
      {
        id: "rule-edit",
        keys: "e",
        label: t("form.edit"),
        run: () => now.current.count > 0 && now.current.onEdit(Math.max(0, at())),
      },
      { id: "rule-new", keys: "n", label: t("form.add"), run: () => now.current.onNew() },
    ];
  }, [t, focus]);
  useShortcuts(shortcuts);
  return { list, focus };
}

export function Rules({ rules, error, onChange, onEdit, onNew }: Props) {
  const { t } = useTranslation("policies");
  const { list, focus } = useRuleKeys(rules.length, onEdit, onNew);
  if (rules.length === 0)
    return (
      <Empty icon={Shield} title={t("empty.title")}>
        {t("empty.about")}
      </Empty>
    );
  const move = (at: number, by: number) => {
    const next = [...rules];
    const [rule] = next.splice(at, 1);
    next.splice(at + by, 0, rule!);
    onChange(next);
  };
  return (
    <ol ref={list} className="grid gap-2">
      {rules.map((rule, at) => {
        const said = sentences(t, rule);
        const nth = { nth: at + 1 };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rule is its place
          <li key={at} className="flex items-start gap-3 rounded-md border px-3 py-2">
            <Badge className="mt-0.5 tabular-nums">{at + 1}</Badge>
            <div className="min-w-0 grow">
              {said.map((sentence) => (
                <p key={sentence}>{sentence}</p>
              ))}
              {problemAt(error, `rules[${at}]`) && (
                <p className="text-sm text-danger">{problemAt(error, `rules[${at}]`)}</p>
              )}
            </div>
            <div className="flex shrink-0">
              <IconButton small icon={ArrowUp} label={t("up", nth)} disabled={at === 0} onClick={() => move(at, -1)} />
              <IconButton
                small
                icon={ArrowDown}
                label={t("down", nth)}
                disabled={at === rules.length - 1}
                onClick={() => move(at, 1)}
              />
              <IconButton small icon={Pencil} label={t("edit", nth)} data-edit onClick={() => onEdit(at)} />
              <IconButton
                small
                icon={Trash2}
                label={t("remove", nth)}
                onClick={() => {
                  onChange(rules.toSpliced(at, 1));
                  requestAnimationFrame(() => focus(Math.min(at, rules.length - 2)));
                }}
              />
            </div>
          </li>
        );
      })}
    </ol>
  );
}
