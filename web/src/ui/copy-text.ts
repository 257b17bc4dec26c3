// The one way to the clipboard. Browsers give pages on plain http none but the old one.

import i18next from "i18next";
import { toast } from "./toast";

function copyTheOldWay(text: string): boolean {
  const from = document.activeElement as HTMLElement | null;
  const box = document.createElement("textarea");
  box.value = text;
  box.style.position = "fixed";
  box.style.opacity = "0";
  // A dialog takes back the focus from whatever stands outside of it.
  (from?.closest("[role=dialog],[role=alertdialog]") ?? document.body).append(box);
  try {
    box.select();
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    box.remove();
    from?.focus();
  }
}

/** Whether it is in the clipboard now. Where it is not, whoever asked for it is told. */
export async function copyText(text: string): Promise<boolean> {
  const isDone = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
    () => true,
    () => copyTheOldWay(text),
  );
  if (!isDone) toast(i18next.t("copyFailed"), { failed: true });
  return isDone;
}
