// What an error code means and what to do about it, beside the words of whoever failed.

import { Suspense } from "react";
import { useTranslation } from "react-i18next";
import { sentenceOf } from "../api/errors";

function Sentence({ code }: { code: string }) {
  useTranslation("errors");
  const text = sentenceOf(code);
  return text ? <p>{text}</p> : null;
}

export const Explained = ({ code }: { code: string | undefined }) => (
  <Suspense>{code && <Sentence code={code} />}</Suspense>
);
