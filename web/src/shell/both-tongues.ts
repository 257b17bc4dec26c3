// What the palette finds something by besides its label: the other language's word for it, and the first consonants of the Korean one.

import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { textsIn } from "../i18n";

const FIRST = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ";

/** 호출 기록 → ㅎㅊ ㄱㄹ */
export const initials = (text: string) =>
  text.replaceAll(/[가-힣]/g, (letter) => FIRST[Math.floor((letter.charCodeAt(0) - 0xac00) / 588)]!);

type Texts = { [key: string]: string | Texts };

const at = (texts: Texts | undefined, key: string): string => {
  const found = key
    .split(".")
    .reduce<string | Texts | undefined>((in_, part) => (in_ as Texts | undefined)?.[part], texts);
  return typeof found === "string" ? found : "";
};

export function useBothTongues(area: string): (key: string) => string[] {
  const { i18n } = useTranslation();
  const here = i18n.language === "ko" ? "ko" : "en";
  const other = here === "ko" ? "en" : "ko";
  const texts = useQuery({
    queryKey: ["texts", area],
    queryFn: async () =>
      ({ en: await textsIn("en", area), ko: await textsIn("ko", area) }) as Record<"en" | "ko", Texts>,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  return (key) => [at(texts?.[other], key), initials(at(texts?.ko, key))].filter(Boolean);
}
