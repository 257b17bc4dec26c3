// A run as one reads it: while it goes on in the playground, and later on its own page.

import { CircleAlert, Info, Wrench } from "lucide-react";
import { lazy, memo, Suspense, useDeferredValue } from "react";
import { useTranslation } from "react-i18next";
import { Explained } from "../../ui/explained";
import { Answer } from "./answer";
import { Ask } from "./ask";
import { CallCard } from "./call-card";
import type { Block, EndBlock, Transcript } from "./transcript";

const Markdown = lazy(() => import("../../ui/markdown"));

const Said = memo(function Said({ text }: { text: string }) {
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
      <Markdown text={text} />
    </Suspense>
  );
});

function Text({ text, isDone }: { text: string; isDone: boolean }) {
  // What is still being written may be drawn a little late, so that typing and scrolling never are.
  const drawn = useDeferredValue(text);
  return (
    <div data-block="text" data-done={isDone}>
      <Answer text={isDone ? text : ""}>
        <Said text={isDone ? text : drawn} />
      </Answer>
    </div>
  );
}

function End({ end }: { end: EndBlock }) {
  const { t, i18n } = useTranslation("runs");
  const number = (value: number | undefined) => (value ?? 0).toLocaleString(i18n.language);
  const used = (end.usage.input_tokens ?? 0) + (end.usage.output_tokens ?? 0);
  const parts = [
    used > 0 && t("tokens", { input: number(end.usage.input_tokens), output: number(end.usage.output_tokens) }),
    end.cost !== null && t("cost", { cost: end.cost.toLocaleString(i18n.language, { maximumFractionDigits: 6 }) }),
  ].filter(Boolean);
  return (
    <>
      {end.status !== "done" && (
        <div
          role="alert"
          data-end={end.status}
          className="flex items-start gap-2 rounded-md bg-danger-soft px-3 py-2 text-danger"
        >
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <div>
            <p className="font-medium">{t(`status.${end.status as "failed"}`)}</p>
            <Explained code={end.code} />
            {end.message && <p className="whitespace-pre-wrap">{end.message}</p>}
          </div>
        </div>
      )}
      {parts.length > 0 && <p className="text-xs text-muted tabular-nums">{parts.join(" · ")}</p>}
    </>
  );
}

function OneBlock({ run, block, isLast, isOver }: { run: string; block: Block; isLast: boolean; isOver: boolean }) {
  const { t } = useTranslation("runs");
  switch (block.kind) {
    case "text":
      return <Text text={block.text} isDone={block.isDone} />;
    case "call":
      return <CallCard call={block} isLast={isLast} isOver={isOver} />;
    case "ask":
      return <Ask run={run} ask={block} isOver={isOver} />;
    case "plan":
      return block.tools.length === 0 ? null : (
        <p className="flex items-center gap-1.5 text-xs text-muted">
          <Wrench aria-hidden className="size-3.5 shrink-0" />
          <span className="truncate">{t("plan", { count: block.tools.length, tools: block.tools.join(", ") })}</span>
        </p>
      );
    case "note":
      return (
        <p className="flex items-start gap-1.5 text-sm text-muted">
          <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
          {block.message}
        </p>
      );
    case "end":
      return <End end={block} />;
  }
}

/** What is read out: each text and call once it is whole, never letter by letter. */
function readOut(blocks: Block[], t: (key: "call.done" | "call.failed") => string): string {
  const last = blocks.findLast(
    (block) =>
      (block.kind === "text" && block.isDone) ||
      (block.kind === "call" && block.elapsed !== undefined) ||
      block.kind === "ask",
  );
  if (last?.kind === "text") return last.text;
  if (last?.kind === "call") return `${last.tool}: ${t(last.state === "failed" ? "call.failed" : "call.done")}`;
  return last?.kind === "ask" ? last.question : "";
}

export function TranscriptView({ run, transcript }: { run: string; transcript: Transcript }) {
  const { t } = useTranslation("runs");
  const { blocks, isOver } = transcript;
  const lastShown = blocks.findLastIndex((block) => block.kind !== "end");
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3" data-testid="transcript" data-over={isOver}>
      {blocks.map((block, at) => (
        <OneBlock key={`${block.kind}-${block.id}`} run={run} block={block} isLast={at === lastShown} isOver={isOver} />
      ))}
      <div aria-live="polite" className="sr-only">
        {readOut(blocks, t)}
      </div>
    </div>
  );
}
