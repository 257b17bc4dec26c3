// A user is made, gets a password or a link to log in with, or passes on what they own.

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { problemAt } from "../../api/errors";
import { useMe } from "../../api/me";
import type { UserView } from "../../api/schema";
import { Button } from "../../ui/button";
import { CopyBlock } from "../../ui/copy";
import { Facts } from "../../ui/facts";
import { Field, Select, TextField } from "../../ui/field";
import { Note } from "../../ui/note";
import { Dialog } from "../../ui/overlay";
import { Failed, Skeleton } from "../../ui/states";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { create, loginLink, patch, ROLES, type Role, reassign, useUserChange } from "./queries";

type Props = { user: UserView; onClose: () => void };

function Buttons({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onClose}>{t("cancel")}</Button>
      {children}
    </div>
  );
}

const onSubmit = (act: () => void) => (event: FormEvent) => {
  event.preventDefault();
  act();
};

export function NewUser({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation(["users", "frame"]);
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("author");
  const [password, setPassword] = useState("");
  const [subject, setSubject] = useState("");
  const make = useUserChange(create, (_, { password: given, oidc_subject }) => {
    toast(t("made", { name: name.trim() }));
    // Whoever has another way in needs no link.
    if (given || oidc_subject) onClose();
  });
  const send = () =>
    make.mutate({
      name: name.trim(),
      role,
      password: password || undefined,
      oidc_subject: subject.trim() || undefined,
    });
  if (make.data && !password && !subject.trim()) return <LoginLink user={make.data} isNew onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title={t("new")}>
      <form onSubmit={onSubmit(send)} className="grid gap-4" noValidate>
        {make.error && <Failed error={make.error} />}
        <TextField
          label={t("name")}
          hint={t("form.nameHint")}
          required
          autoComplete="off"
          problem={problemAt(make.error, "name")}
          value={name}
          onChange={(event) => setName(event.target.value)}
          spellCheck={false}
        />
        <Field label={t("roleLabel")} hint={t(`roleAbout.${role}`)} problem={problemAt(make.error, "role")}>
          {(told) => (
            <Select {...told} value={role} onChange={(event) => setRole(event.target.value as Role)}>
              {ROLES.map((one) => (
                <option key={one} value={one}>
                  {t(`frame:role.${one}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <TextField
          label={t("form.password")}
          hint={t("form.passwordHint")}
          type="password"
          autoComplete="new-password"
          problem={problemAt(make.error, "password")}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <TextField
          label={t("form.subject")}
          hint={t("form.subjectHint")}
          problem={problemAt(make.error, "oidc_subject")}
          value={subject}
          onChange={(event) => setSubject(event.target.value)}
          spellCheck={false}
        />
        <Buttons onClose={onClose}>
          <Button look="primary" type="submit" busy={make.isPending} disabled={!name.trim()}>
            {t("form.make")}
          </Button>
        </Buttons>
      </form>
    </Dialog>
  );
}

export function PasswordOf({ user, onClose }: Props) {
  const { t } = useTranslation(["users", "frame"]);
  const me = useMe();
  const isOwn = user.name === me.user;
  const [password, setPassword] = useState("");
  const [current, setCurrent] = useState("");
  const save = useUserChange(patch, () => {
    toast(t("passwordSet", { name: user.name }));
    onClose();
  });
  const send = () =>
    save.mutate({ name: user.name, change: { password, ...(isOwn && current && { current_password: current }) } });
  return (
    <Dialog open onClose={onClose} title={t("act.passwordOf", { name: user.name })} about={t("form.sessionsEnd")}>
      <form onSubmit={onSubmit(send)} className="grid gap-4" noValidate>
        {save.error && <Failed error={save.error} />}
        {isOwn && user.has_password && (
          <TextField
            label={t("form.current")}
            type="password"
            autoComplete="current-password"
            problem={problemAt(save.error, "current_password")}
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
          />
        )}
        <TextField
          label={t("form.newPassword")}
          hint={t("form.eight")}
          type="password"
          autoComplete="new-password"
          required
          problem={problemAt(save.error, "password")}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
        <Buttons onClose={onClose}>
          <Button look="primary" type="submit" busy={save.isPending} disabled={password.length === 0}>
            {t("frame:save")}
          </Button>
        </Buttons>
      </form>
    </Dialog>
  );
}

export function LoginLink({ user, isNew, onClose }: Props & { isNew?: boolean }) {
  const { t } = useTranslation("users");
  // Each opening makes one link, however often the dialog is drawn.
  const link = useQuery({
    queryKey: ["login-link", user.name],
    queryFn: () => loginLink(user.name) as Promise<{ path: string; url?: string | null; expires_at: string }>,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  return (
    <Dialog
      open
      wide
      firm={!!link.data}
      onClose={onClose}
      title={t("link.title", { name: user.name })}
      about={t(isNew ? "link.aboutNew" : "link.about")}
    >
      {link.isPending && <Skeleton rows={2} />}
      {link.error && <Failed error={link.error} again={() => void link.refetch()} />}
      {link.data && (
        <div className="grid gap-3">
          <CopyBlock label={t("link.label")} text={link.data.url ?? `${location.origin}${link.data.path}`} />
          <Note tone="warn">
            {t("link.once")} <When at={link.data.expires_at} />
          </Note>
        </div>
      )}
    </Dialog>
  );
}

export function Heir({
  user,
  all,
  value,
  onChange,
  problem,
  isOptional,
}: {
  user: UserView;
  all: UserView[];
  value: string;
  onChange: (name: string) => void;
  problem?: string;
  isOptional?: boolean;
}) {
  const { t } = useTranslation("users");
  return (
    <Field label={t("reassign.to")} problem={problem} required={!isOptional}>
      {(told) => (
        <Select {...told} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{t(isOptional ? "reassign.nobody" : "reassign.choose")}</option>
          {all
            .filter((other) => other.is_active && other.name !== user.name)
            .map((other) => (
              <option key={other.id} value={other.name}>
                {other.name}
              </option>
            ))}
        </Select>
      )}
    </Field>
  );
}

export function Reassign({ user, all, onClose }: Props & { all: UserView[] }) {
  const { t } = useTranslation(["users", "frame"]);
  const [to, setTo] = useState("");
  const act = useUserChange(reassign);
  const done = act.data;
  return (
    <Dialog open onClose={onClose} title={t("reassign.title", { name: user.name })} about={t("reassign.about")}>
      {done ? (
        <div className="grid gap-4">
          <Facts
            facts={(["tools", "agents", "toolsets", "servers", "secrets"] as const).map((kind) => [
              t(`owned.${kind}`),
              String(done[kind]),
            ])}
          />
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              {t("frame:close")}
            </Button>
          </div>
        </div>
      ) : (
        <form onSubmit={onSubmit(() => act.mutate({ name: user.name, to }))} className="grid gap-4">
          {act.error && <Failed error={act.error} />}
          <Heir {...{ user, all }} value={to} onChange={setTo} problem={problemAt(act.error, "to")} />
          <Buttons onClose={onClose}>
            <Button look="primary" type="submit" busy={act.isPending} disabled={!to}>
              {t("reassign.open")}
            </Button>
          </Buttons>
        </form>
      )}
    </Dialog>
  );
}
