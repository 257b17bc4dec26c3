// A code of the server in the reader's words. The code itself is its title: that is what logs and programs go by.

import { Suspense } from "react";
import { useTranslation } from "react-i18next";

type Kind = "error" | "way" | "scope" | "act";

/** `tool.create` is said by its two halves. A code that nobody has put into words stays what it is. */
function useWords() {
  const { t, i18n } = useTranslation("codes");
  const word = (key: string) => (i18n.exists(`codes:${key}`) ? t(key as "error.timeout") : undefined);
  return (kind: Kind, code: string): string => {
    if (kind !== "act") return word(`${kind}.${code}`) ?? code;
    const [noun = "", verb = ""] = code.split(".");
    const [thing, done] = [word(`noun.${noun}`), word(`verb.${verb}`)];
    return thing && done ? t("act", { thing, done }) : code;
  };
}

function Word({ kind, code }: { kind: Kind; code: string }) {
  return useWords()(kind, code);
}

/** The words come when they are there: no list waits for them. */
export const Coded = ({ kind, code }: { kind: Kind; code: string }) => (
  <span title={code}>
    <Suspense fallback={code}>
      <Word {...{ kind, code }} />
    </Suspense>
  </span>
);
