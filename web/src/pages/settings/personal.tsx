// What one sets for oneself: language, theme, density, password.

import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { useMe } from "../../api/me";
import { chosenDensity, type Density, space } from "../../density";
import { type Language, speak } from "../../i18n";
import { chosenTheme, paint, type Theme } from "../../theme";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Facts } from "../../ui/facts";
import { Field, Select } from "../../ui/field";
import { Card } from "../../ui/page";
import { PasswordOf } from "../users/forms";
import { usersQuery } from "../users/queries";

export function Personal() {
  const { t, i18n } = useTranslation(["settings", "frame", "users"]);
  const me = useMe();
  const users = useQuery(usersQuery);
  const own = users.data?.find((user) => user.name === me.user);
  const [theme, setTheme] = useState(chosenTheme());
  const [density, setDensity] = useState(chosenDensity());
  const [changing, setChanging] = useState(false);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title={t("look.title")}>
        <div className="grid max-w-xs gap-4">
          <Field label={t("frame:language")}>
            {(told) => (
              <Select {...told} value={i18n.language} onChange={(event) => void speak(event.target.value as Language)}>
                <option value="en">English</option>
                <option value="ko">한국어</option>
              </Select>
            )}
          </Field>
          <Field label={t("frame:theme.label")}>
            {(told) => (
              <Select
                {...told}
                value={theme}
                onChange={(event) => {
                  const next = event.target.value as Theme;
                  paint(next);
                  setTheme(next);
                }}
              >
                {(["system", "light", "dark"] as const).map((one) => (
                  <option key={one} value={one}>
                    {t(`frame:theme.${one}`)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label={t("look.density")}>
            {(told) => (
              <Select
                {...told}
                value={density}
                onChange={(event) => {
                  const next = event.target.value as Density;
                  space(next);
                  setDensity(next);
                }}
              >
                <option value="comfortable">{t("look.comfortable")}</option>
                <option value="compact">{t("look.compact")}</option>
              </Select>
            )}
          </Field>
          <p className="text-xs text-muted">{t("look.kept")}</p>
        </div>
      </Card>
      <Card title={t("you.title")}>
        <div className="grid gap-4">
          <Facts
            facts={[
              [t("frame:name"), <span key="n">{me.user}</span>],
              [t("you.role"), t(`frame:role.${me.role as "admin"}`)],
              [
                t("you.scopes"),
                <span key="s" className="flex flex-wrap gap-1">
                  {me.scopes.map((scope) => (
                    <Badge key={scope}>{scope}</Badge>
                  ))}
                </span>,
              ],
              [t("you.key"), me.key],
            ]}
          />
          {own && (
            <div>
              <Button icon={KeyRound} onClick={() => setChanging(true)}>
                {t(own.has_password ? "you.changePassword" : "you.setPassword")}
              </Button>
            </div>
          )}
        </div>
      </Card>
      {changing && own && <PasswordOf user={own} onClose={() => setChanging(false)} />}
    </div>
  );
}
