// Everything by its name: places, whatever was made here, and what can be done.

import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Plus } from "lucide-react";
import { Dialog } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay, useMe } from "../api/me";
import { shownKeys, useAllShortcuts } from "../keys";
import { places } from "../nav";
import { useOpener } from "../ui/opener";
import { useFound } from "./use-found";

const row =
  "flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-accent-soft data-[selected=true]:text-accent-text";

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const { scopes } = useMe();
  const navigate = useNavigate();
  const shortcuts = useAllShortcuts();
  const opener = useOpener();
  const [text, setText] = useState("");
  const sought = useDeferredValue(text.trim());
  const found = useFound(sought);
  const mayMake = useMay("author");
  const close = () => {
    setText("");
    onClose();
  };
  const go = (to: string) => {
    close();
    void navigate({ to });
  };
  const seen = places.filter((place) => !place.scope || scopes.includes(place.scope) || scopes.includes("admin"));
  return (
    <Dialog.Root open={open} onOpenChange={(now) => !now && close()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          {...opener}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 rounded-lg border bg-raised shadow-raised"
        >
          <Dialog.Title className="sr-only">{t("palette.open")}</Dialog.Title>
          <Command label={t("palette.open")} shouldFilter>
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder={t("palette.hint")}
              className="h-12 w-full border-b bg-transparent px-4 text-base outline-none"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-2">
              <Command.Empty className="p-4 text-center text-muted">{t("palette.nothing")}</Command.Empty>
              {found.map(({ path, items }) => {
                const place = places.find((one) => one.path === path)!;
                return (
                  <Command.Group key={path} heading={t(place.label)}>
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
              <Command.Group heading={t("palette.places")}>
                {seen.map((place) => (
                  <Command.Item
                    key={place.path}
                    value={`${t(place.label)} ${place.path}`}
                    onSelect={() => go(place.path)}
                    className={row}
                  >
                    <place.icon aria-hidden className="size-4" />
                    <span className="grow">{t(place.label)}</span>
                    {place.key && <kbd className="text-xs text-muted">G {place.key.toUpperCase()}</kbd>}
                  </Command.Item>
                ))}
              </Command.Group>
              <Command.Group heading={t("palette.actions")}>
                {mayMake && (
                  <Command.Item value={t("palette.newTool")} onSelect={() => go("/tools/new")} className={row}>
                    <Plus aria-hidden className="size-4" />
                    <span className="grow">{t("palette.newTool")}</span>
                  </Command.Item>
                )}
                {shortcuts
                  .filter((one) => !one.keys.startsWith("g "))
                  .map((one) => (
                    <Command.Item
                      key={one.id}
                      value={one.label}
                      onSelect={() => {
                        close();
                        one.run();
                      }}
                      className={row}
                    >
                      <span className="grow">{one.label}</span>
                      <kbd className="text-xs text-muted">{shownKeys(one.keys).join(" ")}</kbd>
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
