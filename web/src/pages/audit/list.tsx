// Administrative acts, newest first: filtered in the address, each with what it changed, and the chain that proves them.

import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Download, FileClock, ShieldCheck } from "lucide-react";
import { useDeferredValue } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay } from "../../api/me";
import type { AuditView } from "../../api/schema";
import { useAddress } from "../../search";
import { useTyped } from "../../typed";
import { Badge } from "../../ui/badge";
import { Button, buttonClass } from "../../ui/button";
import { Coded } from "../../ui/coded";
import { CopyButton } from "../../ui/copy";
import { Diff } from "../../ui/diff";
import { Facts } from "../../ui/facts";
import { Field, Select, TextField } from "../../ui/field";
import { Note, NotToSee } from "../../ui/note";
import { Drawer } from "../../ui/overlay";
import { Page } from "../../ui/page";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { Moment } from "../../ui/time";

const SPANS = ["1h", "24h", "7d", "30d"] as const;
const MEMBERS = ["actor", "action", "target", "since", "until"] as const;
type Filter = Partial<Record<(typeof MEMBERS)[number], string>>;

const filterOf = (found: Record<string, string | undefined>): Filter =>
  Object.fromEntries(MEMBERS.flatMap((member) => (found[member] ? [[member, found[member]]] : [])));

function Peek({ entry, onClose }: { entry: AuditView; onClose: () => void }) {
  const { t } = useTranslation("audit");
  return (
    <Drawer
      open
      wide
      onClose={onClose}
      title={
        <>
          <Coded kind="act" code={entry.action} /> · {entry.target}
        </>
      }
      about={t("nth", { seq: entry.seq })}
    >
      <div className="grid gap-4">
        <Facts
          facts={[
            [t("at"), <Moment key="at" at={entry.at} />],
            [t("actor"), entry.actor],
            [t("key"), entry.key],
            [t("action"), <code key="action">{entry.action}</code>],
            [t("transport"), <Coded key="way" kind="way" code={entry.transport} />],
            [t("target"), <code key="target">{entry.target}</code>],
            [
              t("hash"),
              <span key="hash" className="flex items-center gap-1">
                <code className="text-xs">{entry.hash}</code>
                <CopyButton text={entry.hash} />
              </span>,
            ],
          ]}
        />
        {entry.before || entry.after ? (
          <Diff before={entry.before} after={entry.after} label={t("changed")} whole />
        ) : (
          <p className="text-muted">{t("noContent")}</p>
        )}
      </div>
    </Drawer>
  );
}

function useVerify() {
  const { t } = useTranslation("audit");
  const verify = useMutation({ mutationFn: () => got(api.GET("/api/v1/audit/verify")) });
  const found = verify.data;
  return {
    button: (
      <Button icon={ShieldCheck} busy={verify.isPending} onClick={() => verify.mutate()}>
        {t("verify")}
      </Button>
    ),
    answer: (
      <div role="status" className="mb-3 empty:hidden">
        {verify.error && <Failed error={verify.error} />}
        {found && (
          <Note tone={found.valid ? "info" : "danger"} icon={ShieldCheck} actions={<CopyButton text={found.head} />}>
            <p data-status={found.valid ? "valid" : "broken"} className="font-medium">
              {found.valid ? t("valid", { count: found.entries }) : t("broken", { seq: found.broken_at ?? "?" })}
            </p>
            {found.problem && <p>{found.problem}</p>}
            <p className="text-sm">
              {t("head")} <code>{found.head}</code>
            </p>
          </Note>
        )}
      </div>
    ),
  };
}

function TextFilter({ member, placeholder }: { member: "actor" | "action" | "target"; placeholder: string }) {
  const { t } = useTranslation("audit");
  return <TextField label={t(member)} placeholder={placeholder} spellCheck={false} {...useTyped(member)} />;
}

export default function Audit() {
  const { t } = useTranslation(["audit", "frame"]);
  const [found, change] = useAddress();
  const isAdmin = useMay("admin");
  const filter = filterOf(found);
  const asked = useDeferredValue(JSON.stringify(filter));
  const entries = useInfiniteQuery({
    queryKey: ["audit", asked],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET("/api/v1/audit", {
          params: { query: { ...(JSON.parse(asked) as Filter), limit: 100, cursor: pageParam } },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    enabled: isAdmin,
  });
  const { button, answer } = useVerify();
  const all = entries.data?.pages.flatMap((page) => page.items) ?? [];
  const peeked = all.find((entry) => String(entry.seq) === found.peek);
  const isFiltered = Object.keys(filter).length > 0;
  const clear = () => change(Object.fromEntries(MEMBERS.map((member) => [member, undefined])));
  if (!isAdmin) {
    return (
      <Page title={t("title")}>
        <NotToSee scope="admin" />
      </Page>
    );
  }
  return (
    <Page
      title={t("title")}
      about={t("about")}
      actions={
        <>
          {button}
          <a
            href={`/api/v1/audit/export?${new URLSearchParams(filter)}`}
            download="audit.jsonl"
            className={buttonClass()}
          >
            <Download aria-hidden className="size-4" />
            {t("export")}
          </a>
        </>
      }
    >
      {answer}
      <div className="mb-3 grid gap-3 sm:grid-cols-2 lg:grid-cols-5">
        <TextFilter member="actor" placeholder="kim" />
        <TextFilter member="action" placeholder="tool.update" />
        <TextFilter member="target" placeholder="user:kim" />
        <Field label={t("since")}>
          {(told) => (
            <Select
              {...told}
              value={found.since ?? ""}
              onChange={(event) => change({ since: event.target.value || undefined })}
            >
              <option value="">{t("always")}</option>
              {SPANS.map((span) => (
                <option key={span} value={span}>
                  {t(`span.${span}`)}
                </option>
              ))}
              {found.since && !SPANS.includes(found.since as never) && (
                <option value={found.since}>{found.since}</option>
              )}
            </Select>
          )}
        </Field>
        {isFiltered && (
          <div className="self-end">
            <Button onClick={clear}>{t("frame:clearFilters")}</Button>
          </div>
        )}
      </div>
      {entries.error && <Failed error={entries.error} again={() => void entries.refetch()} />}
      {entries.isPending && <Skeleton />}
      {entries.data && !entries.error && all.length === 0 && (
        <Empty
          icon={FileClock}
          title={isFiltered ? t("frame:nothingFits") : t("empty.title")}
          action={isFiltered && <Button onClick={clear}>{t("frame:clearFilters")}</Button>}
        >
          {!isFiltered && t("empty.about")}
        </Empty>
      )}
      {all.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: "#", className: "hidden md:table-cell" },
            { label: t("at") },
            { label: t("actor"), className: "hidden sm:table-cell" },
            { label: t("action") },
            { label: t("target"), className: "hidden md:table-cell" },
            { label: t("transport"), className: "hidden lg:table-cell" },
          ]}
        >
          {all.map((entry) => (
            <Row key={entry.seq} onOpen={() => change({ peek: String(entry.seq) }, { push: true })}>
              <Cell className="hidden text-muted tabular-nums md:table-cell">{entry.seq}</Cell>
              <Cell>
                <Moment at={entry.at} />
                <span className="block text-sm text-muted sm:hidden">{entry.actor}</span>
              </Cell>
              <Cell className="hidden sm:table-cell">
                {entry.actor}
                {entry.key && <span className="text-muted"> · {entry.key}</span>}
              </Cell>
              <Cell>
                <button
                  type="button"
                  className="hover:underline"
                  aria-label={t("open", { action: entry.action, target: entry.target })}
                  onClick={() => change({ peek: String(entry.seq) }, { push: true })}
                >
                  <Badge tone={/delete|remove|revoke|erase/.test(entry.action) ? "warn" : "plain"}>
                    <Coded kind="act" code={entry.action} />
                  </Badge>
                </button>
                <span className="block max-w-36 font-mono text-sm wrap-anywhere md:hidden">{entry.target}</span>
              </Cell>
              <Cell className="hidden font-mono md:table-cell">{entry.target}</Cell>
              <Cell className="hidden text-muted lg:table-cell">
                <Coded kind="way" code={entry.transport} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {entries.hasNextPage && (
        <Button className="mt-3" busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
          {t("frame:loadMore")}
        </Button>
      )}
      {peeked && <Peek entry={peeked} onClose={() => change({ peek: undefined })} />}
    </Page>
  );
}
