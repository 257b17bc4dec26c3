// Everything by its name: places, whatever was made here, and what can be done.

import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Cable, Languages, type LucideIcon, Moon, Plus } from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Scope, useMe } from "../api/me";
import { speak } from "../i18n";
import { shownKeys, useAllShortcuts } from "../keys";
import { places } from "../nav";
import { paint } from "../theme";
import { useOpener } from "../ui/opener";
import { useBothTongues } from "./both-tongues";
import { useFound } from "./use-found";

const row =
  "flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-accent-soft data-[selected=true]:text-accent-text";

type Act = { id: string; label: string; icon: LucideIcon; scope?: Scope; run: () => void };

// Other words are part of the value: the list does not look at `keywords` that come later.
const Act = ({ act, words }: { act: Act; words: string[] }) => (
  <Command.Item value={[act.label, ...words].join(" ")} onSelect={act.run} className={row}>
    <act.icon aria-hidden className="size-4" />
    <span className="grow">{act.label}</span>
  </Command.Item>
);

const Keys = ({ children }: { children: ReactNode }) => <kbd className="text-xs text-muted">{children}</kbd>;

type Props = { open: boolean; onClose: () => void; onConnect: () => void };

export function Palette({ open, onClose, onConnect }: Props) {
  const { t } = useTranslation(["palette", "frame"]);
  const ofFrame = useBothTongues("frame");
  const ofPalette = useBothTongues("palette");
  const { scopes } = useMe();
  const navigate = useNavigate();
  const shortcuts = useAllShortcuts();
  const opener = useOpener();
  const [text, setText] = useState("");
  const sought = useDeferredValue(text.trim());
  const found = useFound(sought);
  const close = () => {
    setText("");
    onClose();
  };
  const go = (to: string, search?: Record<string, string>) => {
    close();
    void navigate({ to, search } as never);
  };
  const does = (act: () => unknown) => () => {
    close();
    void act();
  };
  const may = ({ scope }: { scope?: Scope }) => !scope || scopes.includes(scope) || scopes.includes("admin");
  const seen = places.filter(may);
  const acts: Act[] = [
    { id: "newTool", icon: Plus, scope: "author" as const, run: () => go("/tools/new") },
    { id: "newToolset", icon: Plus, scope: "author" as const, run: () => go("/toolsets/new") },
    { id: "newAgent", icon: Plus, scope: "author" as const, run: () => go("/agents/new") },
    { id: "newKey", icon: Plus, run: () => go("/keys", { new: "1" }) },
    { id: "newUser", icon: Plus, scope: "admin" as const, run: () => go("/users", { new: "1" }) },
    { id: "connect", icon: Cable, run: does(onConnect) },
    { id: "light", icon: Moon, run: does(() => paint("light")) },
    { id: "dark", icon: Moon, run: does(() => paint("dark")) },
    { id: "system", icon: Moon, run: does(() => paint("system")) },
    { id: "english", icon: Languages, run: does(() => speak("en")) },
    { id: "korean", icon: Languages, run: does(() => speak("ko")) },
  ].map((act) => ({ ...act, label: t(act.id as "newTool") }));
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          {...opener}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 rounded-lg border bg-raised shadow-raised"
        >
          <Dialog.Title className="sr-only">{t("frame:palette.open")}</Dialog.Title>
          <Command label={t("frame:palette.open")} shouldFilter>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder={t("hint")}
              className="h-12 w-full border-b bg-transparent px-4 text-base outline-none"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-2">
              <Command.Empty className="p-4 text-center text-muted">{t("nothing")}</Command.Empty>
              {found.map(({ path, items }) => {
                const place = places.find((one) => one.path === path)!;
                return (
                  <Command.Group key={path} heading={t(`frame:${place.label}`)}>
                    {items.map(({ name, about }) => (
                      <Command.Item
                        key={name}
                        value={`${path} ${name} ${sought}`}
                        onSelect={() => go(`${path}/${encodeURIComponent(name)}`)}
                        className={row}
                      >
                        <place.icon aria-hidden className="size-4 shrink-0" />
                        <span className="font-mono whitespace-nowrap">{name}</span>
                        <span className="truncate text-muted">{about}</span>
                      </Command.Item>
                    ))}
                  </Command.Group>
                );
              })}
              <Command.Group heading={t("places")}>
                {seen.map((place) => (
                  <Command.Item
                    key={place.path}
                    value={[t(`frame:${place.label}`), place.path, ...ofFrame(place.label)].join(" ")}
                    onSelect={() => go(place.path)}
                    className={row}
                  >
                    <place.icon aria-hidden className="size-4" />
                    <span className="grow">{t(`frame:${place.label}`)}</span>
                    {place.key && <Keys>G {place.key.toUpperCase()}</Keys>}
                  </Command.Item>
                ))}
              </Command.Group>
              <Command.Group heading={t("actions")}>
                {acts.filter(may).map((act) => (
                  <Act key={act.id} act={act} words={ofPalette(act.id)} />
                ))}
                {shortcuts
                  .filter((one) => !one.keys.startsWith("g "))
                  .map((one) => (
                    <Command.Item key={one.id} value={one.label} onSelect={does(one.run)} className={row}>
                      <span className="grow">{one.label}</span>
                      <Keys>{shownKeys(one.keys).join(" ")}</Keys>
                    </Command.Item>
                  ))}
              </Command.Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
