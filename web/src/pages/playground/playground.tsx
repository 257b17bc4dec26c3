// A conversation with an agent or the built-in planner. Its runs stand in the address: loading it again shows the same.

import { useMutation, useQuery } from "@tanstack/react-query";
import { ArrowDown, MessagesSquare, SquarePen } from "lucide-react";
import { useCallback, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useAddress } from "../../search";
import { Button } from "../../ui/button";
import { Select } from "../../ui/field";
import { ReadOnly } from "../../ui/note";
import { Page } from "../../ui/page";
import { Empty, Failed } from "../../ui/states";
import { agentsQuery } from "../agents/queries";
import { giveReply } from "../runs/queries";
import { isTypeable, typedAnswer } from "../runs/typed-answer";
import { Composer } from "./composer";
import { Turn, type TurnState } from "./turn";
import { useStick } from "./use-stick";

const EXAMPLES = ["percent", "units", "daily"] as const;

export default function Playground() {
  // All the texts of what comes up later, too: a page that has to wait for them would begin anew.
  const { t } = useTranslation(["playground", "runs", "form", "result"]);
  const [found, change] = useAddress();
  const runs = found.runs ? found.runs.split(",") : [];
  const agents = useQuery(agentsQuery({ active: true }));
  const [inputs, setInputs] = useState<Record<string, string>>({});
  const [states, setStates] = useState<Record<string, TurnState>>({});
  const { scroller, content, hasMore, toEnd } = useStick();
  const last = runs.at(-1);
  const begin = useMutation({
    mutationFn: ({ input, before }: { input: string; before: string[] }) =>
      got(
        api.POST("/api/v1/runs", {
          body: { input, agent: found.agent || undefined, after: before.at(-1), wait: false },
        }),
      ),
    onSuccess: (run, { input, before }) => {
      setInputs((known) => ({ ...known, [run.id]: input }));
      change({ runs: [...before, run.id].join(",") });
    },
  });
  const stop = useMutation({
    mutationFn: (id: string) => got(api.POST("/api/v1/runs/{id}/cancel", { params: { path: { id } } })),
  });
  const onState = useCallback(
    (run: string, state: TurnState) => setStates((known) => ({ ...known, [run]: state })),
    [],
  );
  const send = (input: string, before: string[] = runs) => {
    toEnd();
    return begin.mutateAsync({ input, before });
  };
  const asked = last === undefined ? undefined : states[last]?.asked;
  const isAnswer = asked?.about === "question" && isTypeable(asked.schema);
  const answer = useMutation({
    mutationFn: ({ given }: { given: unknown }) => giveReply(last!, asked!.id, { answer: given }),
  });
  const [problem, setProblem] = useState<string>();
  const reply = async (text: string) => {
    const typed = typedAnswer(text, asked!.schema);
    if ("wrong" in typed) {
      setProblem(typed.wrong === "choice" ? t("noChoice") : t(`form:${typed.wrong}`));
      throw new Error(typed.wrong);
    }
    setProblem(undefined);
    await answer.mutateAsync({ given: typed.answer });
  };
  // A button is gone only with the next drawing: until then, a second click would send it twice.
  const isSending = useRef(false);
  const sendOnce = async (input: string, before?: string[]) => {
    if (isSending.current) return;
    isSending.current = true;
    try {
      await send(input, before);
    } catch {
      // What is not taken stands above as an error; only the composer has something to put back.
    } finally {
      isSending.current = false;
    }
  };
  const isBusy = begin.isPending || (last !== undefined && !states[last]?.isOver);
  return (
    <Page
      fill
      title={t("title")}
      about={<span className="hidden sm:inline">{t("about")}</span>}
      actions={
        <>
          <Select
            aria-label={t("who")}
            className="w-auto! max-w-80 pr-10!"
            value={found.agent ?? ""}
            onChange={(event) => change({ agent: event.target.value || undefined, runs: undefined })}
          >
            <option value="">{t("planner")}</option>
            {/* Also one that is switched off, gone or not known yet: it is the one that is asked. */}
            {found.agent && !agents.data?.some((one) => one.name === found.agent) && <option>{found.agent}</option>}
            {agents.data?.map((agent) => (
              <option key={agent.id} value={agent.name}>
                {agent.name}
              </option>
            ))}
          </Select>
          <Button icon={SquarePen} disabled={runs.length === 0} onClick={() => change({ runs: undefined })}>
            {t("new")}
          </Button>
        </>
      }
    >
      <ReadOnly scope="call" />
      <div className="relative flex min-h-0 grow flex-col">
        <div
          ref={scroller}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
          tabIndex={0}
          role="log"
          aria-live="off"
          aria-label={t("conversation")}
          className="min-h-0 grow overflow-y-auto"
        >
          <div ref={content} className="mx-auto grid max-w-3xl grid-cols-[minmax(0,1fr)] gap-6 pb-4">
            {runs.length === 0 && (
              <Empty
                icon={MessagesSquare}
                title={t("empty")}
                action={EXAMPLES.map((one) => (
                  <Button key={one} disabled={isBusy} onClick={() => void sendOnce(t(`example.${one}`))}>
                    {t(`example.${one}`)}
                  </Button>
                ))}
              >
                {t("emptyAbout")}
              </Empty>
            )}
            {runs.map((run, at) => (
              <Turn
                key={run}
                run={run}
                input={inputs[run]}
                onState={onState}
                isSending={begin.isPending}
                onRetry={(input) => void sendOnce(input, runs.slice(0, at))}
              />
            ))}
            {begin.error && <Failed error={begin.error} />}
            {stop.error && <Failed error={stop.error} />}
            {answer.error && <Failed error={answer.error} />}
          </div>
        </div>
        {hasMore && (
          <Button
            small
            look="primary"
            icon={ArrowDown}
            onClick={toEnd}
            className="absolute bottom-28 left-1/2 -translate-x-1/2 rounded-full! shadow-raised"
          >
            {t("newMessages")}
          </Button>
        )}
        <div className="mx-auto w-full max-w-3xl">
          <Composer
            isBusy={isBusy}
            isWaiting={asked !== undefined}
            isAnswer={isAnswer}
            problem={isAnswer ? problem : undefined}
            isStopping={stop.isPending}
            onSend={(input) => (isAnswer ? reply(input) : send(input))}
            onStop={() => last && stop.mutate(last)}
          />
        </div>
      </div>
    </Page>
  );
}
