// One data source: whether it answers, what it may be used for, its tables, and the role it should be read with.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Pencil, PlugZap, Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/errors";
import { useMay } from "../../api/me";
import { useAddress } from "../../search";
import { Button, buttonClass, IconButton } from "../../ui/button";
import { CopyBlock } from "../../ui/copy";
import { Crumbs } from "../../ui/crumbs";
import { Facts } from "../../ui/facts";
import { TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Confirm } from "../../ui/overlay";
import { Card, Page } from "../../ui/page";
import { masked } from "../../ui/pairs";
import { Failed, Skeleton } from "../../ui/states";
import { Tabs } from "../../ui/tabs";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { remove, roleScriptQuery, type SourceView, sourceQuery, test, useSourceChange } from "./queries";
import { Schema } from "./schema";
import { pathOf, placeOf, StateBadge } from "./state";
import { TestResult } from "./test-result";

function Overview({ source }: { source: SourceView }) {
  const { t } = useTranslation(["sources", "frame"]);
  const mayTest = useMay("operate");
  const tried = useSourceChange(test);
  const password =
    typeof source.password === "string" ? source.password : source.password?.set ? masked(source.password) : null;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card
        title={t("overview.now")}
        actions={
          mayTest && (
            <Button small icon={PlugZap} busy={tried.isPending} onClick={() => tried.mutate(source.name)}>
              {t("test.run")}
            </Button>
          )
        }
      >
        <div className="grid gap-3">
          <div className="flex items-center gap-2">
            <StateBadge source={source} />
            <span className="text-muted">{t(`stateAbout.${source.state}`)}</span>
          </div>
          {!tried.data && source.cause && (
            <code className="rounded bg-sunken px-2 py-1 whitespace-pre-wrap">{source.cause}</code>
          )}
          {!tried.data &&
            source.warnings.map((warning) => (
              <Note key={warning} tone="warn">
                {warning}
              </Note>
            ))}
          {tried.error && <Failed error={tried.error} />}
          {tried.data && <TestResult found={tried.data} />}
          {!mayTest && <p className="text-sm text-muted">{t("test.notYou")}</p>}
        </div>
      </Card>
      <Card title={t("overview.definition")}>
        <Facts
          facts={[
            [t("originLabel"), t(`origin.${source.origin as "file" | "database" | "environment"}`)],
            [t("kind"), source.kind === "sqlite" ? "SQLite" : "PostgreSQL"],
            [source.kind === "sqlite" ? t("form.path") : t("form.url"), <code key="place">{placeOf(source)}</code>],
            [t("form.password"), password && <code key="password">{password}</code>],
            [t("frame:description"), source.description],
            [t("rights"), t(source.allow_write ? "writes" : "reads")],
            [t("authorsLabel"), t(`authors.${source.authors as "admins" | "everyone"}`)],
            [t("form.searchPath"), source.search_path.join(", ")],
            [t("form.functions"), source.functions.join(", ")],
            [t("form.pgbouncer"), source.pgbouncer && t("frame:yes")],
            [t("form.superuser"), source.allow_superuser && t("frame:yes")],
            [
              t("form.connections"),
              source.connections_max && `${source.connections_min ?? "–"} … ${source.connections_max}`,
            ],
            [t("overview.updated"), source.updated_at && <When key="u" at={source.updated_at} />],
          ]}
        />
        {source.origin !== "database" && (
          <p className="mt-3 text-sm text-muted">{t(source.origin === "file" ? "overview.file" : "overview.env")}</p>
        )}
      </Card>
    </div>
  );
}

function RoleScript({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  const [role, setRole] = useState("");
  const [schemas, setSchemas] = useState("");
  const script = useQuery(roleScriptQuery(source.name, role, schemas));
  return (
    <div className="grid gap-3">
      <p className="max-w-3xl text-muted">{t("role.about")}</p>
      <div className="grid max-w-2xl gap-3 sm:grid-cols-2">
        <TextField
          label={t("role.name")}
          placeholder="toolcrib_reader"
          value={role}
          onChange={(event) => setRole(event.target.value)}
          spellCheck={false}
        />
        <TextField
          label={t("role.schemas")}
          hint={t("role.schemasHint")}
          placeholder={source.search_path.join(", ") || "public"}
          value={schemas}
          onChange={(event) => setSchemas(event.target.value)}
          spellCheck={false}
        />
      </div>
      {script.error && <Failed error={script.error} again={() => void script.refetch()} />}
      {script.isPending && <Skeleton rows={3} />}
      {script.data && !script.error && <CopyBlock label={t("role.script")} text={script.data.script} />}
    </div>
  );
}

/** One that tools use is only removed when that is said a second time. */
function Remove({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  const [used, setUsed] = useState<string | null>(null);
  const gone = useSourceChange(remove);
  const act = async (force: boolean) => {
    try {
      await gone.mutateAsync({ name: source.name, force });
      toast(t("remove.done", { name: source.name }));
      void navigate({ to: "/sources" });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "conflict" || force) throw error;
      setUsed(error.message);
    }
  };
  return (
    <>
      <IconButton icon={Trash2} label={t("remove.open")} onClick={() => setOpen(true)} />
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={t("remove.title", { name: source.name })}
        action={t("remove.open")}
        onConfirm={() => act(false)}
      >
        {t("remove.about")}
      </Confirm>
      <Confirm
        open={used !== null}
        onClose={() => setUsed(null)}
        title={t("remove.used")}
        action={t("remove.force")}
        typed={source.name}
        onConfirm={() => act(true)}
      >
        {used}
      </Confirm>
    </>
  );
}

export default function Source() {
  const { t } = useTranslation(["sources", "frame"]);
  const { name = "" } = useParams({ strict: false }) as { name?: string };
  const [found, change] = useAddress();
  const isAdmin = useMay("admin");
  const mayAuthor = useMay("author");
  const mayOperate = useMay("operate");
  const asked = useQuery(sourceQuery(name));
  const source = asked.data;
  return (
    <Page
      name={name}
      title={
        <Crumbs to="/sources" label={t("title")}>
          <span className="flex items-center gap-2">
            <span className="font-mono">{name}</span>
            {source && <StateBadge source={source} />}
          </span>
        </Crumbs>
      }
      actions={
        source?.origin === "database" &&
        isAdmin && (
          <>
            <Link to={`${pathOf(name)}/edit`} className={buttonClass()}>
              <Pencil aria-hidden className="size-4" />
              {t("frame:edit")}
            </Link>
            <Remove source={source} />
          </>
        )
      }
    >
      {asked.error && <Failed error={asked.error} again={() => void asked.refetch()} />}
      {asked.isPending && <Skeleton />}
      {source && (
        <Tabs
          label={name}
          open={found.tab ?? "overview"}
          onOpen={(id) => change({ tab: id === "overview" ? undefined : id, q: undefined })}
          tabs={[
            { id: "overview", label: t("tab.overview"), content: <Overview source={source} /> },
            ...(mayAuthor ? [{ id: "schema", label: t("tab.schema"), content: <Schema source={name} /> }] : []),
            ...(mayOperate && source.kind === "postgres"
              ? [{ id: "role", label: t("tab.role"), content: <RoleScript source={source} /> }]
              : []),
          ]}
        />
      )}
    </Page>
  );
}
