// A span of one's own, as two moments. What is typed stays as it is typed, also while it is no span; only a span is asked for.

import { type FocusEvent, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Search } from "../../search";
import { endsOf, type Span, spanProblem } from "../../span";
import { Input } from "../../ui/field";

/** `datetime-local` has no time zone: it is the one of whoever looks. */
const local = (at: number) =>
  Number.isFinite(at) ? new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";

/** A year that is being typed begins with zeros: nobody asks for those. */
const EARLIEST = Date.UTC(2000, 0, 1);
const momentOf = (text: string) => {
  const at = new Date(text).getTime();
  return at >= EARLIEST ? at : Number.NaN;
};

type Texts = { from: string; to: string };

export function OwnSpan({ found, onChange }: { found: Search; onChange: (change: Search) => void }) {
  const { t } = useTranslation("executions");
  const id = useId();
  const [typed, setTyped] = useState<Texts>();
  const [isHere, setHere] = useState(false);
  // Going back, or dragging over the bars, changes the span behind the fields; whoever is typing goes on with their own.
  const said = `${found.since} ${found.until}`;
  const [known, setKnown] = useState(said);
  if (known !== said) {
    setKnown(said);
    if (!isHere) setTyped(undefined);
  }
  const ends = endsOf(found.since, found.until);
  const shown = typed ?? { from: local(ends.from), to: local(ends.to) };
  const problem = spanProblem(typed ? { from: momentOf(typed.from), to: momentOf(typed.to) } : ends);
  const type = (which: keyof Span, text: string) => {
    const next = { ...shown, [which]: text };
    setTyped(next);
    // What was not typed keeps its seconds.
    const at = (end: keyof Span) => (next[end] === local(ends[end]) ? ends[end] : momentOf(next[end]));
    const wanted = { from: at("from"), to: at("to") };
    if (!spanProblem(wanted))
      onChange({ since: new Date(wanted.from).toISOString(), until: new Date(wanted.to).toISOString() });
  };
  const left = (event: FocusEvent) => {
    if (event.currentTarget.contains(event.relatedTarget)) return;
    setHere(false);
    if (!problem) setTyped(undefined);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus moves between its two fields
    <div className="flex flex-wrap items-center gap-2" onFocus={() => setHere(true)} onBlur={left}>
      {(["from", "to"] as const).map((which) => (
        <Input
          key={which}
          type="datetime-local"
          aria-label={t(which)}
          aria-invalid={problem ? true : undefined}
          aria-describedby={problem && id}
          className="w-auto!"
          value={shown[which]}
          onChange={(event) => type(which, event.target.value)}
        />
      ))}
      {problem && (
        <p id={id} role="alert" className="text-sm text-danger">
          {t(`spanProblem.${problem}`)}
        </p>
      )}
    </div>
  );
}
