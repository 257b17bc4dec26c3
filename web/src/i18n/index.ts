// The page's texts in English and Korean: one file for each area, loaded with the page that needs it. Keys are checked
// against the English texts.

import i18next, { type BackendModule, type FlatNamespace } from "i18next";
import { initReactI18next } from "react-i18next";
import { isMissing, reloadWhenAnswered } from "../stale";
import type en from "./en";

export type Language = "en" | "ko";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "frame";
    resources: typeof en;
  }
}

const files = import.meta.glob<{ default: Record<string, unknown> }>("./*/*.json");

/** The texts of an area in a language, whichever is spoken. */
export const textsIn = async (language: Language, area: string) =>
  (await files[`./${language}/${area}.json`]?.())?.default ?? {};

const backend: BackendModule = {
  type: "backend",
  init: () => {},
  read: (language, area, done) => {
    const load = files[`./${language}/${area}.json`];
    if (!load) return done(new Error(`no texts for ${area} in ${language}`), null);
    load().then(
      (loaded) => done(null, loaded.default),
      (error) => {
        // Until then there is nothing to show but the names of texts; an error is told in the server's own words instead.
        if (isMissing(error) && area !== "errors") reloadWhenAnswered();
        done(error, null);
      },
    );
  },
};

const chosenLanguage = (): Language => (document.documentElement.lang === "ko" ? "ko" : "en");

let started: Promise<unknown> | undefined;

export const startTexts = () => {
  started ??= i18next
    .use(backend)
    .use(initReactI18next)
    .init({
      lng: chosenLanguage(),
      fallbackLng: false,
      ns: ["frame"],
      defaultNS: "frame",
      interpolation: { escapeValue: false },
    });
  return started;
};

/** The texts of some areas, before anything asks for them. */
export async function loadTexts(areas: FlatNamespace[]): Promise<void> {
  await startTexts();
  await i18next.loadNamespaces(areas);
}

export async function speak(language: Language) {
  localStorage.setItem("toolcrib.language", language);
  document.documentElement.lang = language;
  await i18next.changeLanguage(language);
}
