// API keys: who has which, what it may do, when it was last used. Its text is shown once, when it is made.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Ban, KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMe } from "../../api/me";
import type { KeyView } from "../../api/schema";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Coded } from "../../ui/coded";
import { Check } from "../../ui/field";
import { Confirm } from "../../ui/overlay";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { fits } from "../../words";
import { NewKeyForm } from "./form";
import { keysQuery, stateOf, usesQuery } from "./queries";

const tones = { active: "ok", unused: "info", expired: "warn", revoked: "plain" } as const;

/** What stops when the key does. */
function UsedFor({ of }: { of: KeyView }) {
  const { t } = useTranslation("keys");
  const uses = useQuery(usesQuery(of)).data;
  if (!uses || uses.looked === 0) return null;
  const shown = uses.tools.slice(0, 5);
  const more = uses.tools.length - shown.length;
  return (
    <p className="mt-2">
      {t("revoke.calls", { count: uses.calls, looked: uses.looked, user: of.user })}
      {shown.length > 0 && (
        <>
          {" "}
          <span className="font-mono text-sm text-fg">{shown.join(", ")}</span>
          {more > 0 && ` ${t("revoke.more", { count: more })}`}
        </>
      )}
    </p>
  );
}

function Revoke({ of, onClose }: { of: KeyView | null; onClose: () => void }) {
  const { t } = useTranslation("keys");
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) => got(api.DELETE("/api/v1/keys/{id}", { params: { path: { id } } })),
    onSuccess: () => toast(t("revoked", { name: of?.name })),
    onSettled: () => {
      for (const area of ["keys", "policy"]) void queries.invalidateQueries({ queryKey: [area] });
    },
  });
  return (
    <Confirm
      open={!!of}
      onClose={onClose}
      title={t("revoke.title", { name: of?.name })}
      action={t("revoke.open")}
      onConfirm={() => of && revoke.mutateAsync(of.id)}
    >
      <p>{t("revoke.about", { user: of?.user })}</p>
      <p className="mt-2">
        {of?.last_used_at ? (
          <>
            {t("revoke.used")} <When at={of.last_used_at} />
          </>
        ) : (
          t("revoke.unused")
        )}
      </p>
      {of?.last_used_at && <UsedFor of={of} />}
    </Confirm>
  );
}

export default function Keys() {
  const { t } = useTranslation(["keys", "frame"]);
  const me = useMe();
  const [found, change] = useAddress();
  const keys = useQuery(keysQuery);
  const making = found.new === "1";
  const setMaking = (now: boolean) => change({ new: now ? "1" : undefined });
  const [revoking, setRevoking] = useState<KeyView | null>(null);
  const all = keys.data ?? [];
  const isAll = found.all === "1";
  const shown = all.filter((key) => (isAll || !key.revoked_at) && fits(found.q, key.name, key.user, key.id));
  const make = (
    <Button look="primary" icon={Plus} onClick={() => setMaking(true)}>
      {t("new")}
    </Button>
  );
  return (
    <Page title={t("title")} about={t(me.role === "admin" ? "about" : "aboutOwn")} actions={all.length > 0 && make}>
      {keys.error && <Failed error={keys.error} again={() => void keys.refetch()} />}
      {keys.isPending && <Skeleton />}
      {keys.data && all.length === 0 && (
        <Empty icon={KeyRound} title={t("empty.title")} action={make}>
          {t("empty.about")}
        </Empty>
      )}
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap items-center gap-3">
          <SearchBox />
          <Check
            label={t("withRevoked")}
            checked={isAll}
            onChange={(event) => change({ all: event.target.checked ? "1" : undefined })}
          />
        </div>
      )}
      {all.length > 0 && shown.length === 0 && (
        <Empty
          title={t("frame:nothingFits")}
          action={<Button onClick={() => change({ q: undefined, all: "1" })}>{t("frame:clearFilters")}</Button>}
        />
      )}
      {shown.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: t("name") },
            { label: t("user") },
            { label: t("scopes") },
            { label: t("stateLabel") },
            { label: t("lastUsed") },
            { label: t("expires") },
            { label: t("created") },
            { label: t("actions"), hidden: true },
          ]}
        >
          {shown.map((key) => {
            const state = stateOf(key);
            return (
              <Row key={key.id} status={state}>
                <Cell>
                  <span className="font-medium">{key.name}</span>
                  <p className="font-mono text-xs text-muted">tck_{key.id.replaceAll("-", "").slice(0, 8)}…</p>
                </Cell>
                <Cell>{key.user}</Cell>
                <Cell>
                  <span className="flex flex-wrap gap-1">
                    {key.scopes.map((scope) => (
                      <Badge key={scope} tone={scope === "admin" ? "warn" : "plain"}>
                        <Coded kind="scope" code={scope} />
                      </Badge>
                    ))}
                  </span>
                </Cell>
                <Cell>
                  <Badge tone={tones[state]}>{t(`state.${state}`)}</Badge>
                </Cell>
                <Cell>
                  {key.last_used_at ? <When at={key.last_used_at} /> : <span className="text-muted">{t("never")}</span>}
                </Cell>
                <Cell>
                  {key.expires_at ? <When at={key.expires_at} /> : <span className="text-muted">{t("never")}</span>}
                </Cell>
                <Cell className="text-muted">
                  <When at={key.created_at} />
                </Cell>
                <Cell className="text-right">
                  {!key.revoked_at && (
                    <Button
                      small
                      look="quiet"
                      icon={Ban}
                      aria-label={t("revokeOf", { name: key.name })}
                      onClick={() => setRevoking(key)}
                    >
                      {t("revoke.open")}
                    </Button>
                  )}
                </Cell>
              </Row>
            );
          })}
        </Table>
      )}
      {making && <NewKeyForm onClose={() => setMaking(false)} />}
      <Revoke of={revoking} onClose={() => setRevoking(null)} />
    </Page>
  );
}
