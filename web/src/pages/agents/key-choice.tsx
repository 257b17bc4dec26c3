// The key an agent shows to its provider: the server's own, or a secret that is stored.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { secretsQuery } from "../../api/secrets";
import { Field, Select } from "../../ui/field";

type Props = {
  /** Whose agent it is: an agent uses its owner's secrets. */
  owner: string;
  value: unknown;
  problem?: string;
  onChange: (value: unknown) => void;
};

const secretIn = (value: unknown) => (value as { $secret?: unknown } | null | undefined)?.$secret;

export function KeyChoice({ owner, value, problem, onChange }: Props) {
  const { t } = useTranslation("agents");
  const secrets = useQuery(secretsQuery);
  const names = secrets.data?.filter((secret) => secret.owner === owner).map((secret) => secret.name) ?? [];
  const chosen = secretIn(value);
  // What is stored in another way, or under a name that is gone, stays until another is chosen.
  const isOther = value !== undefined && (typeof chosen !== "string" || !names.includes(chosen));
  const told = typeof chosen === "string" ? chosen : JSON.stringify(value);
  return (
    <Field
      label={t("key")}
      problem={problem}
      hint={
        <>
          {t("keyHint")}{" "}
          <Link to={"/settings" as never} search={{ tab: "secrets" } as never} className="text-accent-text underline">
            {t("toSecrets")}
          </Link>
        </>
      }
    >
      {(tied) => (
        <Select
          {...tied}
          value={value === undefined ? "" : isOther ? "\u0000" : (chosen as string)}
          onChange={({ target }) =>
            target.value !== "\u0000" && onChange(target.value === "" ? undefined : { $secret: target.value })
          }
        >
          <option value="">{t("serverKey")}</option>
          {isOther && <option value={"\u0000"}>{told}</option>}
          {names.map((name) => (
            <option key={name} value={name}>
              {t("secretNamed", { name })}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
