// A tool is made or changed here, in four steps. What is written is kept in this browser until it is saved.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CatchBoundary, Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, FlaskConical, Save } from "lucide-react";
import { lazy, Suspense, useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { problemsOf } from "../../api/errors";
import { useMay, useMe } from "../../api/me";
import { writeExact } from "../../exact";
import { useKeeping } from "../../kept";
import { shownKeys, useShortcuts } from "../../keys";
import { useAddress } from "../../search";
import { Broken } from "../../shell/failures";
import { Button, buttonClass } from "../../ui/button";
import { Crumbs } from "../../ui/crumbs";
import { Leaving } from "../../ui/leaving";
import { Note, ReadOnly } from "../../ui/note";
import { Page } from "../../ui/page";
import { Restored } from "../../ui/restored";
import { Failed, messageOf, Skeleton } from "../../ui/states";
import { Tabs } from "../../ui/tabs";
import { toast } from "../../ui/toast";
import { givenAgain } from "../executions/curl";
import { executionQuery } from "../executions/queries";
import { sourcesQuery } from "../sources/queries";
import {
  bodyOf,
  type Draft,
  draftOf,
  drafts,
  hasSecrets,
  isFilled,
  STEPS,
  type StepId,
  stepOf,
  unreadIn,
} from "./draft";
import { hasValue, StepLabel, StoredActions } from "./editor-parts";
import { type Change, useCheck } from "./editor-state";
import { isOpen } from "./open-source";
import {
  isChangeable,
  isConflict,
  type Kind,
  mayChange,
  type Offer,
  offersQuery,
  type Tool,
  toolQuery,
} from "./queries";
import type { Question } from "./saved-tests";
import { startKey, startOf } from "./start";
import { comingStep, Steps } from "./steps";
import type { Given } from "./test-step";
import { canTry, isHarmless, isTestable, matters } from "./testable";
import { dropTries, keptAnswer, moveTries } from "./tries";
import { rebased, useDraft } from "./use-draft";

const Conflict = lazy(() => import("./conflict"));
const SaveQuestion = lazy(() => import("./saved-tests"));

export default function ToolEditor() {
  const { name } = useParams({ strict: false }) as { name?: string };
  const [found] = useAddress();
  const source = name ?? found.from;
  const tool = useQuery({ ...toolQuery(source ?? ""), enabled: !!source, refetchOnWindowFocus: false });
  const server = name ? "" : (found.server ?? "");
  const offers = useQuery(offersQuery(server));
  // What somebody may not use is nothing to begin with.
  const isAdmin = useMay("admin");
  const sources = useQuery({ ...sourcesQuery, enabled: !isAdmin && !source });
  const first = isAdmin || sources.data?.some((one) => isOpen(one, isAdmin)) ? "sql" : "expression";
  // The arguments of a past call, to begin with.
  const replayed = useQuery({ ...executionQuery(found.replay ?? ""), enabled: !!found.replay });
  const { t } = useTranslation(["editor", "frame"]);
  const failed = [tool, replayed].find((one) => one.error);
  if (source && failed)
    return (
      <Page
        title={
          <Crumbs to="/tools" label={t("frame:nav.tools")}>
            {source}
          </Crumbs>
        }
        name={source}
      >
        <Failed error={failed.error} again={() => void failed.refetch()} />
      </Page>
    );
  // What a server says of its tool comes along, but a server that does not answer keeps nobody from beginning.
  if ((source && !tool.data) || (server && offers.isLoading) || replayed.isLoading || sources.isLoading)
    return <Skeleton />;
  return (
    <Editing
      key={name ?? `new ${startKey(found)}`}
      first={first}
      stored={name ? tool.data : undefined}
      from={name ? undefined : tool.data}
      offer={offers.data?.find((one) => one.name === found.tool)}
      given={replayed.data && givenAgain(replayed.data.arguments)}
    />
  );
}

type EditingProps = { first: Kind; stored?: Tool; from?: Tool; offer?: Offer; given?: Given };

function Editing({ first, stored, from, offer, given }: EditingProps) {
  const { t } = useTranslation(["editor", "frame", "tools"]);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [found, setAddress] = useAddress();
  const me = useMe();
  const isAuthor = useMay("author");
  const may = isAuthor && (!stored || mayChange(stored, me));
  const [begun] = useState(found);
  const key = stored?.name ?? startKey(begun);
  // No tool has such a name: one that is not saved yet shares nothing with another.
  const keep = stored?.name ?? `+${key}`;
  const original = useMemo(
    () => (stored ? draftOf(stored) : startOf(begun, from, offer, first)),
    [stored, from, offer, begun, first],
  );
  const { draft, setDraft, restored, setRestored, dirty } = useDraft(key, original);
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const [saving, setSaving] = useState<"testing" | "saving">();
  const [question, setQuestion] = useState<Question>();
  const [trial, setTrial] = useState<{ body: string; isWell: boolean }>();
  const saved = useRef(false);
  const asked = STEPS.includes(found.step as StepId) ? (found.step as StepId) : found.test ? "test" : "basics";
  // The step before stays in sight until the next one is there.
  const step = useDeferredValue(asked);
  const unread = unreadIn(draft);
  // What is being saved is not new any more by the time that it is looked at.
  const check = useCheck(draft, stored?.name ?? "", step === "basics", may && saving !== "saving" && !saved.current);
  const change = useCallback(
    (some: Change) => {
      setFailure(undefined);
      setDraft((before) => ({ ...before, ...(typeof some === "function" ? some(before) : some) }));
    },
    [setDraft],
  );
  useKeeping(drafts, key, draft, dirty, saved);
  // Whoever gets to the query by keys chooses its source at once: what is typed into a list without entries is lost.
  useEffect(() => {
    if (draft.kind === "sql") void queries.prefetchQuery(sourcesQuery);
  }, [draft.kind, queries]);
  // Where somebody is on their way to from the foot of the page.
  const goal = useRef<StepId>(null);
  const open = useCallback(
    (id: string) => {
      goal.current = null;
      setAddress({ step: id === "basics" ? undefined : id, test: undefined, replay: undefined });
    },
    [setAddress],
  );
  const goTo = (id: StepId) => {
    open(id);
    goal.current = id;
  };
  // Pressed twice it goes two steps, also while the first of them is still being loaded.
  const goBy = (steps: number) => {
    const next = STEPS[STEPS.indexOf(goal.current ?? asked) + steps];
    if (next) goTo(next);
  };
  // One goes on at the top of the step that one wanted, not behind it, unless one is at something above the page by then.
  useEffect(() => {
    if (goal.current !== step) return;
    goal.current = null;
    if (document.activeElement?.closest("[role=dialog], [role=alertdialog]")) return;
    document.querySelector<HTMLElement>("main [role=tabpanel][data-state=active]")?.focus();
  }, [step]);
  const all = failure ? problemsOf(failure) : check.problems;
  const problem = useCallback(
    (path: string) => {
      const one = all.find(
        (it) => it.path === path || it.path.startsWith(`${path}.`) || it.path.startsWith(`${path}[`),
      );
      return one && (tried || hasValue(draft, path)) ? one.message : undefined;
    },
    [all, tried, draft],
  );
  const latest = useRef(draft);
  latest.current = draft;
  const isSaving = useRef(false);
  const save = async (version = draft.version, tests: "as usual" | "run" | "leave" = "as usual") => {
    if (isSaving.current) return;
    setTried(true);
    setQuestion(undefined);
    if (unread[0]) return open(stepOf(unread[0]));
    const mayRun = tests === "run" || isHarmless(draft);
    const isAsked = tests !== "leave" && canTry(draft) && (!stored || matters(original, draft));
    if (isAsked && !mayRun) return setQuestion({ count: draft.tests.length });
    isSaving.current = true;
    if (isAsked) {
      setSaving("testing");
      const failed = await failing(draft);
      if (failed.length > 0) {
        isSaving.current = false;
        setSaving(undefined);
        return setQuestion({ failed });
      }
    }
    setSaving("saving");
    void queries.cancelQueries({ queryKey: ["tools", "check"] });
    try {
      const body = bodyOf(draft) as never;
      const after = stored
        ? await got(
            api.PUT("/api/v1/tools/{name}", {
              params: { path: { name: stored.name }, header: { "If-Match": String(version) } },
              body,
            }),
          )
        : await got(api.POST("/api/v1/tools", { body }));
      saved.current = true;
      drafts.drop(key);
      queries.setQueryData(toolQuery(after.name).queryKey, after);
      void queries.invalidateQueries({ queryKey: ["tools", "list"] });
      void queries.invalidateQueries({ queryKey: ["tools", "versions", after.name] });
      const lastFailed = keptAnswer(keep)?.status === "error" ? ` ${t("editor:lastFailed")}` : "";
      toast(t(stored ? "editor:saved" : "editor:made", { name: after.name, version: after.version }) + lastFailed);
      const wasRun = mayRun || (question && "failed" in question);
      if (isTestable(draft) && wasRun)
        import("./saved-tests").then(
          (tests) => tests.testStored(queries, after.name),
          () => {},
        );
      if (stored?.name === after.name) {
        setDraft((now) => rebased(draft, now, after));
        setRestored(false);
        setFailure(undefined);
        saved.current = false;
      } else {
        moveTries(keep, after.name);
        // Somebody may have gone on writing meanwhile.
        if (latest.current !== draft) drafts.write(after.name, rebased(draft, latest.current, after));
        void navigate({
          to: `/tools/${encodeURIComponent(after.name)}`,
          search: { step: "test" } as never,
          ignoreBlocker: true,
        });
      }
    } catch (error) {
      setFailure(error);
      const first = problemsOf(error)[0];
      if (first) open(stepOf(first.path));
    } finally {
      isSaving.current = false;
      setSaving(undefined);
    }
  };
  const saveNow = useRef(() => {});
  saveNow.current = () => {
    if (may && (dirty || !stored)) void save();
  };
  useShortcuts(
    useMemo(() => [{ id: "save", keys: "mod+s", label: t("frame:save"), run: () => saveNow.current() }], [t]),
  );
  const throwAway = () => {
    drafts.drop(key);
    if (!stored) dropTries(keep);
  };
  const discard = () => {
    throwAway();
    setDraft(original);
    setRestored(false);
    setFailure(undefined);
  };
  const takeTheirs = async (name: string) => {
    try {
      const theirs = await queries.fetchQuery({ ...toolQuery(name), staleTime: 0 });
      drafts.drop(key);
      setDraft(draftOf(theirs));
      setRestored(false);
      setFailure(undefined);
    } catch (error) {
      toast(messageOf(error), { failed: true });
    }
  };
  const props = { draft, change, problem, dirty, keep };
  const at = STEPS.indexOf(step);
  const steps = {
    basics: <Steps.basics {...props} check={check} isNew={!stored} may={may} />,
    parameters: <Steps.parameters {...props} />,
    logic: <Steps.logic {...props} isNew={!stored} />,
    test: (
      <Steps.test
        {...props}
        stored={stored}
        may={may}
        given={given}
        onTried={(isWell) => setTrial({ body: writeExact(bodyOf(draft)), isWell })}
      />
    ),
  };
  const told = all.filter((one) => tried || hasValue(draft, one.path)).map((one) => one.path);
  const wrong = new Set([...unread, ...told].map(stepOf));
  const isDone = (id: StepId) => isFilled(draft, id) && isBegun(id);
  /** Nothing is done before somebody did something: an empty step has nothing that could be wrong. */
  const isBegun = (id: StepId) => {
    if (stored && !dirty) return id !== "test" || !stored.tested?.failed;
    if (id === "parameters") return draft.parameters.length > 0 || isFilled(draft, "logic");
    return id !== "test" || (trial?.isWell === true && trial.body === writeExact(bodyOf(draft)));
  };
  const title = stored ? <span className="font-mono">{stored.name}</span> : t(from ? "editor:newCopy" : "editor:new");
  return (
    <Page
      fill
      name={stored?.name ?? t("editor:new")}
      title={
        <Crumbs to="/tools" label={t("frame:nav.tools")}>
          {title}
        </Crumbs>
      }
      actions={stored && <StoredActions tool={stored} dirty={dirty} />}
    >
      <ReadOnly scope="author" />
      {stored && isAuthor && !may && (
        <Note
          tone="plain"
          className="mb-3"
          actions={
            <Link to="/tools/new" search={{ from: stored.name } as never} className={buttonClass("plain", true)}>
              {t("editor:cloneIt")}
            </Link>
          }
        >
          {isChangeable(stored)
            ? t(stored.shelf === "file" ? "editor:notYoursFile" : "editor:notYours", { owner: stored.owner })
            : t("editor:fixed", { shelf: stored.shelf })}
        </Note>
      )}
      <Restored className="mb-3" secrets={hasSecrets(draft)} kept={{ isRestored: restored && dirty, discard }} />
      {isConflict(failure) && stored && failure.details ? (
        <Suspense fallback={<Skeleton rows={2} />}>
          <Conflict
            error={failure}
            onTheirs={() => void takeTheirs(stored.name)}
            onMine={(version) => void save(version)}
          />
        </Suspense>
      ) : (
        failure !== undefined && <Failed error={failure} className="mb-3" />
      )}
      {/* Around them all, so that it keeps the step before instead of showing that the next one is coming. */}
      <Suspense fallback={<Skeleton className="grow" />}>
        <Tabs
          label={t("editor:steps.label")}
          open={step}
          onOpen={open}
          onNear={(id) => comingStep(id as StepId)}
          fill
          className="min-h-0 grow"
          tabs={STEPS.map((id, index) => ({
            id,
            label: (
              <StepLabel
                number={index + 1}
                isOpen={step === id}
                text={t(`editor:steps.${id}`)}
                state={wrong.has(id) ? "wrong" : isDone(id) ? "done" : "open"}
              />
            ),
            content: step === id && (
              // Whoever may only look scrolls it with the keys: there is no field in it to go to.
              <div tabIndex={may ? undefined : 0} className="-mx-1 h-full overflow-y-auto px-1 pb-6">
                <fieldset disabled={!may && (id === "parameters" || id === "logic")} className="block min-w-0">
                  {/* Where a step does not come, what was written is still there to be saved. */}
                  <CatchBoundary getResetKey={() => id} errorComponent={Broken}>
                    {steps[id]}
                  </CatchBoundary>
                </fieldset>
              </div>
            ),
          }))}
        />
      </Suspense>
      <footer className="-mx-4 flex shrink-0 items-center gap-2 border-t bg-panel px-4 py-2.5 md:-mx-6 md:px-6">
        <Button
          look="quiet"
          icon={ChevronLeft}
          disabled={at === 0}
          onClick={() => goBy(-1)}
          onPointerEnter={() => comingStep(STEPS[at - 1])}
        >
          {t("editor:back")}
        </Button>
        <Button
          look="quiet"
          icon={ChevronRight}
          disabled={at === STEPS.length - 1}
          onClick={() => goBy(1)}
          onPointerEnter={() => comingStep(STEPS[at + 1])}
        >
          {t("editor:next")}
        </Button>
        <span role="status" className="ml-auto truncate text-sm text-muted max-sm:hidden">
          {saving === "testing" ? (
            t("editor:testing")
          ) : unread.length > 0 ? (
            <span className="text-danger">{t("editor:unread")}</span>
          ) : check.tool?.trouble ? (
            <span className="text-warn">{check.tool.trouble}</span>
          ) : dirty ? (
            t("editor:unsaved")
          ) : (
            ""
          )}
        </span>
        {step !== "test" && (
          <Button
            icon={FlaskConical}
            className="max-sm:hidden"
            onClick={() => goTo("test")}
            onPointerEnter={() => comingStep("test")}
          >
            {t("editor:testRun")}
          </Button>
        )}
        {may && (
          <Button
            look="primary"
            icon={Save}
            busy={!!saving}
            disabled={!dirty && !!stored}
            title={shownKeys("mod+s")[0]}
            onClick={() => void save()}
          >
            {t("frame:save")}
          </Button>
        )}
      </footer>
      {question && (
        <Suspense>
          <SaveQuestion
            question={question}
            onClose={() => setQuestion(undefined)}
            onSave={() => void save(draft.version, "leave")}
            onRun={() => void save(draft.version, "run")}
          />
        </Suspense>
      )}
      <Leaving dirty={dirty} isDone={saved} onDiscard={throwAway} />
    </Page>
  );
}

/** The tests that fail with a draft. A definition that cannot be tried is refused when it is saved, with what is wrong. */
async function failing(draft: Draft) {
  try {
    const { failedOf, runDraft } = await import("./saved-tests");
    return failedOf(await runDraft(draft));
  } catch {
    return [];
  }
}
