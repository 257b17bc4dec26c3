// The first four steps. Each ticks itself once it is really done; the list goes away when it is told to.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CircleDashed, X } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMe } from "../../api/me";
import { Button, buttonClass, IconButton } from "../../ui/button";
import { keysQuery } from "../keys/queries";
import { sourcesQuery } from "../sources/queries";

const Connect = lazy(() => import("../../shell/connect").then((it) => ({ default: it.Connect })));

const DISMISSED = "toolcrib.first-steps";
export const isDismissed = () => localStorage.getItem(DISMISSED) === "off";

type Done = Record<"source" | "tool" | "test" | "client", boolean>;

const EVERY_MS = 10_000;
/** A step that is done stays done: it is not asked for again. */
const unless = (isDone: boolean | undefined) => (isDone ? (false as const) : EVERY_MS);

/** What is there already, as far as the steps go. */
function useDone(): Done | undefined {
  const { user } = useMe();
  const sources = useQuery({
    ...sourcesQuery,
    select: (all) => all.some((source) => source.state === "ready"),
    refetchInterval: ({ state }) => unless(state.data?.some((source) => source.state === "ready")),
  });
  const tools = useQuery({
    queryKey: ["tools", "first", user],
    queryFn: async () =>
      (await got(api.GET("/api/v1/tools", { params: { query: { owner: user, limit: 1 } } }))).items.length > 0,
    refetchInterval: ({ state }) => unless(state.data),
  });
  const keys = useQuery(keysQuery);
  const calls = useQuery({
    queryKey: ["executions", "first"],
    queryFn: async () => {
      const any = async (query: { transport: string; status?: string }) =>
        (await got(api.GET("/api/v1/executions", { params: { query: { ...query, limit: 1 } } }))).items.length > 0;
      // With `--dev` nobody is logged in, and what the page calls comes in as any program's.
      const [test, client] = await Promise.all([
        any({ transport: "page,rest", status: "success" }),
        any({ transport: "mcp" }),
      ]);
      return { test, client };
    },
    refetchInterval: ({ state }) => unless(state.data?.test && state.data.client),
  });
  if (sources.data === undefined || tools.data === undefined || !keys.data || !calls.data) return undefined;
  const isKeyUsed = keys.data.some((key) => key.last_used_at && !key.revoked_at);
  return {
    source: sources.data,
    tool: tools.data,
    test: calls.data.test,
    client: calls.data.client || isKeyUsed,
  };
}

const STEPS = [
  { id: "source", to: "/sources" },
  { id: "tool", to: "/tools/new" },
  { id: "test", to: "/tools" },
  { id: "client", to: undefined },
] as const;

/** `isAskedFor`: somebody wants to see it again. */
export function Checklist({ isAskedFor, onDismiss }: { isAskedFor: boolean; onDismiss: () => void }) {
  const { t } = useTranslation("home");
  const done = useDone();
  const [connecting, setConnecting] = useState(false);
  const dismiss = () => {
    localStorage.setItem(DISMISSED, "off");
    onDismiss();
  };
  const isDone = done !== undefined && STEPS.every((step) => done[step.id]);
  // Finished already when one comes: there is nothing left to say. Finished before one's eyes, it stays until one leaves.
  const [wasDone] = useState({ known: false, is: false });
  if (done && !wasDone.known) Object.assign(wasDone, { known: true, is: isDone });
  useEffect(() => {
    if (isDone && !isAskedFor) localStorage.setItem(DISMISSED, "off");
  }, [isDone, isAskedFor]);
  if (!done || (wasDone.is && !isAskedFor)) return null;
  const count = STEPS.filter((step) => done[step.id]).length;
  return (
    <section aria-labelledby="first-steps" className="rounded-lg border bg-panel">
      <div className="flex items-center gap-3 border-b px-4 py-2.5">
        <h2 id="first-steps" className="font-semibold">
          {t("first.title")}
        </h2>
        <span className="grow text-sm text-muted tabular-nums">
          {t("first.count", { done: count, all: STEPS.length })}
        </span>
        <IconButton small icon={X} label={t("first.dismiss")} onClick={dismiss} />
      </div>
      <ol className="grid md:grid-cols-2 xl:grid-cols-4">
        {STEPS.map(({ id, to }, at) => (
          <li key={id} data-done={done[id]} className="flex gap-3 border-b p-4 last:border-b-0 xl:border-b-0">
            {done[id] ? (
              <CircleCheck aria-label={t("first.done")} className="mt-0.5 size-5 shrink-0 text-ok" />
            ) : (
              <CircleDashed aria-label={t("first.toDo")} className="mt-0.5 size-5 shrink-0 text-muted" />
            )}
            <div className="grid content-start justify-items-start gap-1">
              <h3 className="font-medium">
                {at + 1}. {t(`first.${id}.title`)}
              </h3>
              <p className="text-sm text-muted">{t(`first.${id}.about`)}</p>
              {to ? (
                <Link to={to as never} className={`${buttonClass(done[id] ? "plain" : "primary", true)} mt-1`}>
                  {t(`first.${id}.action`)}
                </Link>
              ) : (
                <Button
                  small
                  className="mt-1"
                  look={done[id] ? "plain" : "primary"}
                  onClick={() => setConnecting(true)}
                >
                  {t(`first.${id}.action`)}
                </Button>
              )}
            </div>
          </li>
        ))}
      </ol>
      <Suspense>{connecting && <Connect open onClose={() => setConnecting(false)} />}</Suspense>
    </section>
  );
}
