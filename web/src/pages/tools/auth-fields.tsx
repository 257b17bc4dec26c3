// How an HTTP tool shows who it is. Values are sealed when they are stored, or taken from a named secret.

import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { Button } from "../../ui/button";
import { Field, Input, Select } from "../../ui/field";
import { type Mask, masked } from "../../ui/pairs";
import { secretsQuery } from "./queries";

type Auth = Record<string, unknown> & { type?: string };
type Props = { value: unknown; onChange: (value: unknown) => void; problem?: string };

const MEMBERS: Record<string, Array<{ key: string; secret: boolean }>> = {
  none: [],
  bearer: [{ key: "token", secret: true }],
  basic: [
    { key: "username", secret: false },
    { key: "password", secret: true },
  ],
  header: [
    { key: "name", secret: false },
    { key: "value", secret: true },
  ],
  query: [
    { key: "name", secret: false },
    { key: "value", secret: true },
  ],
  oauth2: [
    { key: "token_url", secret: false },
    { key: "client_id", secret: false },
    { key: "client_secret", secret: true },
    { key: "scope", secret: false },
  ],
};

export function AuthFields({ value, onChange, problem }: Props) {
  const { t } = useTranslation("request");
  const auth = (value ?? {}) as Auth;
  const type = auth.type && MEMBERS[auth.type] ? auth.type : value ? "other" : "none";
  return (
    <fieldset className="grid gap-3 rounded-md border p-3">
      <legend className="px-1 text-sm font-medium">{t("auth.label")}</legend>
      <div className="grid items-start gap-3 md:grid-cols-[12rem_minmax(0,1fr)_minmax(0,1fr)]">
        <Field label={t("auth.type")}>
          {(told) => (
            <Select
              {...told}
              value={type}
              onChange={(event) => onChange(event.target.value === "none" ? null : { type: event.target.value })}
            >
              {Object.keys(MEMBERS).map((one) => (
                <option key={one} value={one}>
                  {t(`auth.types.${one as "none"}`)}
                </option>
              ))}
              {type === "other" && <option value="other">{auth.type ?? "?"}</option>}
            </Select>
          )}
        </Field>
        {(MEMBERS[type] ?? []).map(({ key, secret }) =>
          secret ? (
            <SecretValue
              key={key}
              label={t(`auth.${key as "token"}`)}
              value={auth[key]}
              onChange={(next) => onChange({ ...auth, [key]: next })}
            />
          ) : (
            <Field key={key} label={t(`auth.${key as "username"}`)}>
              {(told) => (
                <Input
                  {...told}
                  spellCheck={false}
                  autoComplete="off"
                  value={String(auth[key] ?? "")}
                  onChange={(event) => onChange({ ...auth, [key]: event.target.value })}
                />
              )}
            </Field>
          ),
        )}
      </div>
      {problem && <p className="text-sm text-danger">{problem}</p>}
    </fieldset>
  );
}

function SecretValue({
  label,
  value,
  onChange,
}: {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const { t } = useTranslation("request");
  const names = useQuery(secretsQuery).data ?? [];
  const reference =
    value && typeof value === "object" && "$secret" in value
      ? String((value as { $secret: unknown }).$secret)
      : undefined;
  const mask = value && typeof value === "object" && "set" in value ? (value as Mask) : undefined;
  return (
    <Field label={label} hint={t("auth.sealed")}>
      {(told) => (
        <div className="flex gap-2">
          {mask ? (
            <>
              <span className="flex h-8 grow items-center rounded-md bg-sunken px-2.5 font-mono text-muted">
                {masked(mask)}
              </span>
              <Button small onClick={() => onChange("")}>
                {t("auth.replace")}
              </Button>
            </>
          ) : (
            <Select
              {...told}
              className="max-w-44"
              value={reference ?? ""}
              onChange={(event) => onChange(event.target.value ? { $secret: event.target.value } : "")}
            >
              <option value="">{t("auth.typeValue")}</option>
              {[...new Set([...names, reference ?? ""])].filter(Boolean).map((name) => (
                <option key={name} value={name}>
                  {t("auth.secret", { name })}
                </option>
              ))}
            </Select>
          )}
          {!mask && reference === undefined && (
            <Input
              aria-label={label}
              type="password"
              autoComplete="new-password"
              value={typeof value === "string" ? value : ""}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </div>
      )}
    </Field>
  );
}
