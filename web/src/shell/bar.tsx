// The bar above the page: searching, how to connect, language, theme, who one is.

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Cable, CircleUser, Languages, LogOut, Menu as MenuIcon, Moon, Search, Settings } from "lucide-react";
import { useTranslation } from "react-i18next";
import { api, got } from "../api/client";
import { ApiError } from "../api/errors";
import { useMe } from "../api/me";
import { type Language, speak } from "../i18n";
import { shownKeys } from "../keys";
import { chosenTheme, paint, type Theme } from "../theme";
import { Button, IconButton } from "../ui/button";
import { Menu } from "../ui/menu";
import { messageOf } from "../ui/states";
import { toast } from "../ui/toast";

const LANGUAGES: Array<[Language, string]> = [
  ["en", "English"],
  ["ko", "한국어"],
];

type Props = { onMenu: () => void; onSearch: () => void; onConnect: () => void };

export function Bar({ onMenu, onSearch, onConnect }: Props) {
  const { t, i18n } = useTranslation();
  const me = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const themes: Theme[] = ["system", "light", "dark"];
  const logOut = async () => {
    try {
      await got(api.POST("/api/v1/logout"));
    } catch (error) {
      // A session that has ended is what was wanted. One that goes on must not look as if it had.
      if (!(error instanceof ApiError && error.status === 401)) return toast(messageOf(error), { failed: true });
    }
    queries.clear();
    location.href = "/login";
  };
  return (
    <header className="flex h-12 items-center gap-2 border-b bg-panel px-3">
      <IconButton icon={MenuIcon} label={t("nav.label")} onClick={onMenu} className="lg:hidden" />
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 min-w-0 grow items-center gap-2 rounded-md border bg-bg px-2.5 text-muted hover:border-strong sm:max-w-80"
      >
        <Search aria-hidden className="size-4 shrink-0" />
        <span className="grow truncate text-left">{t("palette.open")}</span>
        <kbd className="hidden text-xs sm:inline">{shownKeys("mod+k")}</kbd>
      </button>
      <span className="grow" />
      <Button icon={Cable} onClick={onConnect} className="max-sm:hidden">
        {t("connect.open")}
      </Button>
      <Menu
        trigger={<IconButton icon={Languages} label={t("language")} />}
        entries={LANGUAGES.map(([code, label]) => ({
          label,
          checked: i18n.language === code,
          onSelect: () => void speak(code),
        }))}
      />
      <Menu
        trigger={<IconButton icon={Moon} label={t("theme.label")} />}
        entries={() =>
          themes.map((one) => ({
            label: t(`theme.${one}`),
            checked: chosenTheme() === one,
            onSelect: () => paint(one),
          }))
        }
      />
      <Menu
        trigger={<IconButton icon={CircleUser} label={t("account", { name: me.user })} />}
        entries={[
          {
            label: `${me.user} · ${t(`role.${me.role as "admin"}`)}`,
            icon: CircleUser,
            onSelect: () => void navigate({ to: "/keys" }),
          },
          { label: t("connect.open"), icon: Cable, onSelect: onConnect },
          { label: t("nav.settings"), icon: Settings, onSelect: () => void navigate({ to: "/settings" }) },
          "line",
          { label: t("logOut"), icon: LogOut, onSelect: () => void logOut() },
        ]}
      />
    </header>
  );
}
