// One request and what came of it.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { LoaderCircle, RotateCcw } from "lucide-react";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { Failed } from "../../ui/states";
import { runQuery } from "../runs/queries";
import { type AskBlock, askedNow } from "../runs/transcript";
import { TranscriptView } from "../runs/transcript-view";
import { useRun } from "../runs/use-run";

export type TurnState = { isOver: boolean; asked: AskBlock | undefined };

type Props = {
  run: string;
  /** What was asked; a conversation that was opened again reads it from the run. */
  input: string | undefined;
  onState: (run: string, state: TurnState) => void;
  /** Something is on its way already. */
  isSending: boolean;
  onRetry: (input: string) => void;
};

export function Turn({ run, input, onState, isSending, onRetry }: Props) {
  const { t } = useTranslation("playground");
  const followed = useRun(run);
  const found = useQuery({ ...runQuery(run), enabled: input === undefined });
  const asked = input ?? found.data?.input ?? "";
  const waitsFor = askedNow(followed);
  const isOver = followed.isOver || followed.error !== null;
  useEffect(() => onState(run, { isOver, asked: waitsFor }), [run, isOver, waitsFor, onState]);
  return (
    <article className="grid grid-cols-[minmax(0,1fr)] gap-3" data-run={run}>
      <div className="justify-self-end rounded-lg bg-accent-soft px-3 py-2 whitespace-pre-wrap sm:max-w-[80%]">
        <span className="sr-only">{t("you")}: </span>
        {asked}
      </div>
      <TranscriptView run={run} transcript={followed} />
      {followed.error !== null && <Failed error={followed.error} />}
      {!isOver && !waitsFor && <LoaderCircle aria-hidden className="size-4 animate-spin text-muted" />}
      {isOver && (
        <div className="flex items-center gap-3">
          <Button
            small
            look="quiet"
            icon={RotateCcw}
            disabled={isSending || asked === ""}
            onClick={() => onRetry(asked)}
          >
            {t("retry")}
          </Button>
          <Link to={`/runs/${run}` as never} className="text-sm text-accent-text">
            {t("openRun")}
          </Link>
        </div>
      )}
    </article>
  );
}
