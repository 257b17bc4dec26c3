// Everybody who may come in: their role, how they log in, and what happens to what is theirs when they leave.

import { useQuery } from "@tanstack/react-query";
import {
  Ellipsis,
  Eraser,
  KeyRound,
  Link2,
  Plus,
  RotateCcw,
  Shuffle,
  UserMinus,
  Users as UsersIcon,
} from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay, useMe } from "../../api/me";
import type { UserView } from "../../api/schema";
import { useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Coded } from "../../ui/coded";
import { Check, Select } from "../../ui/field";
import { Menu } from "../../ui/menu";
import { ReadOnly } from "../../ui/note";
import { Confirm } from "../../ui/overlay";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, messageOf, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { fits } from "../../words";
import { EraseUser } from "./erase";
import { LoginLink, NewUser, PasswordOf, Reassign } from "./forms";
import { patch, ROLES, type Role, remove, restore, usersQuery, useUserChange } from "./queries";

type Act = { what: "password" | "link" | "reassign" | "remove" | "erase"; user: UserView };

const failed = (error: unknown) => toast(messageOf(error), { failed: true });

function RoleOf({ user, disabled }: { user: UserView; disabled: boolean }) {
  const { t } = useTranslation(["users", "frame"]);
  const change = useUserChange(patch);
  const set = (role: string, isUndo = false) =>
    void change.mutateAsync({ name: user.name, change: { role } }).then(() => {
      if (isUndo) return;
      toast(t("roleSet", { name: user.name, role: t(`frame:role.${role as Role}`) }), {
        action: { label: t("frame:undo"), run: () => set(user.role, true) },
      });
    }, failed);
  if (disabled) return <Badge>{t(`frame:role.${user.role as Role}`)}</Badge>;
  return (
    <Select
      aria-label={t("roleOf", { name: user.name })}
      className="w-auto!"
      value={change.isPending ? change.variables.change.role! : user.role}
      onChange={(event) => set(event.target.value)}
    >
      {ROLES.map((role) => (
        <option key={role} value={role}>
          {t(`frame:role.${role}`)}
        </option>
      ))}
    </Select>
  );
}

function Actions({ user, onAct }: { user: UserView; onAct: (act: Act) => void }) {
  const { t } = useTranslation("users");
  const back = useUserChange(restore, () => toast(t("restored", { name: user.name })));
  const entry = (what: Act["what"]) => () => onAct({ what, user });
  return (
    <Menu
      trigger={<IconButton small icon={Ellipsis} label={t("actionsOf", { name: user.name })} />}
      entries={[
        ...(user.is_active
          ? [
              { label: t("act.link"), icon: Link2, onSelect: entry("link") },
              { label: t("act.password"), icon: KeyRound, onSelect: entry("password") },
            ]
          : [
              {
                label: t("act.restore"),
                icon: RotateCcw,
                onSelect: () => void back.mutateAsync(user.name).catch(failed),
              },
            ]),
        { label: t("act.reassign"), icon: Shuffle, onSelect: entry("reassign") },
        "line" as const,
        ...(user.is_active
          ? [{ label: t("act.remove"), icon: UserMinus, danger: true, onSelect: entry("remove") }]
          : []),
        { label: t("act.erase"), icon: Eraser, danger: true, onSelect: entry("erase") },
      ]}
    />
  );
}

function Remove({ user, onClose }: { user: UserView; onClose: () => void }) {
  const { t } = useTranslation(["users", "frame"]);
  const back = useUserChange(restore);
  const gone = useUserChange(remove, () =>
    toast(t("removed", { name: user.name }), {
      action: { label: t("frame:undo"), run: () => void back.mutateAsync(user.name).catch(failed) },
    }),
  );
  return (
    <Confirm
      open
      onClose={onClose}
      title={t("remove.title", { name: user.name })}
      action={t("act.remove")}
      onConfirm={() => gone.mutateAsync(user.name)}
    >
      {t("remove.about")}
    </Confirm>
  );
}

export default function Users() {
  const { t } = useTranslation(["users", "frame"]);
  const me = useMe();
  const isAdmin = useMay("admin");
  const [found, change] = useAddress();
  const users = useQuery(usersQuery);
  const [act, setAct] = useState<Act | null>(null);
  const close = () => setAct(null);
  const all = users.data ?? [];
  const isAll = found.all === "1";
  const shown = all.filter(
    (user) =>
      (isAll || user.is_active) &&
      fits(found.q, user.name, user.oidc_subject) &&
      (!found.role || user.role === found.role),
  );
  const add = isAdmin && (
    <Button look="primary" icon={Plus} onClick={() => change({ new: "1" })}>
      {t("new")}
    </Button>
  );
  return (
    <Page title={t("title")} about={t("about")} actions={add}>
      <ReadOnly scope="admin" />
      {users.error && <Failed error={users.error} again={() => void users.refetch()} />}
      {users.isPending && <Skeleton />}
      {all.length > 0 && (
        <div className="mb-3 flex flex-wrap items-center gap-3">
          <SearchBox />
          <Select
            aria-label={t("roleLabel")}
            className="w-auto!"
            value={found.role ?? ""}
            onChange={(event) => change({ role: event.target.value || undefined })}
          >
            <option value="">{t("anyRole")}</option>
            {ROLES.map((role) => (
              <option key={role} value={role}>
                {t(`frame:role.${role}`)}
              </option>
            ))}
          </Select>
          <Check
            label={t("withRemoved")}
            checked={isAll}
            onChange={(event) => change({ all: event.target.checked ? "1" : undefined })}
          />
        </div>
      )}
      {users.data && shown.length === 0 && (
        <Empty
          icon={UsersIcon}
          title={t("frame:nothingFits")}
          action={
            <Button onClick={() => change({ q: undefined, role: undefined, all: undefined })}>
              {t("frame:clearFilters")}
            </Button>
          }
        />
      )}
      {shown.length > 0 && (
        <Table
          label={t("title")}
          columns={[
            { label: t("name") },
            { label: t("roleLabel") },
            { label: t("mayDo"), className: "hidden lg:table-cell" },
            { label: t("logsIn"), className: "hidden md:table-cell" },
            { label: t("created"), className: "hidden lg:table-cell" },
            { label: t("actions"), hidden: true },
          ]}
        >
          {shown.map((user) => (
            <Row key={user.id} status={user.is_active ? "active" : "removed"}>
              <Cell>
                <span className="flex items-center gap-2">
                  <span className="font-medium">{user.name}</span>
                  {user.name === me.user && <Badge tone="accent">{t("you")}</Badge>}
                  {!user.is_active && <Badge tone="warn">{t("isRemoved")}</Badge>}
                </span>
              </Cell>
              <Cell>
                <RoleOf user={user} disabled={!isAdmin || !user.is_active || user.name === me.user} />
              </Cell>
              <Cell className="hidden text-muted lg:table-cell">
                <span className="flex flex-wrap gap-x-2">
                  {user.scopes.map((scope) => (
                    <Coded key={scope} kind="scope" code={scope} />
                  ))}
                </span>
              </Cell>
              <Cell className="hidden text-muted md:table-cell">
                {[user.has_password && t("byPassword"), user.oidc_subject && t("byProvider")]
                  .filter(Boolean)
                  .join(", ") || t("byKeys")}
              </Cell>
              <Cell className="hidden text-muted lg:table-cell">
                <When at={user.created_at} />
              </Cell>
              <Cell className="text-right">{isAdmin && <Actions user={user} onAct={setAct} />}</Cell>
            </Row>
          ))}
        </Table>
      )}
      {found.new === "1" && isAdmin && <NewUser onClose={() => change({ new: undefined })} />}
      {act?.what === "password" && <PasswordOf user={act.user} onClose={close} />}
      {act?.what === "link" && <LoginLink user={act.user} onClose={close} />}
      {act?.what === "reassign" && <Reassign user={act.user} all={all} onClose={close} />}
      {act?.what === "remove" && <Remove user={act.user} onClose={close} />}
      {act?.what === "erase" && <EraseUser user={act.user} all={all} onClose={close} />}
    </Page>
  );
}
