// Searching within an editor. It comes when somebody first searches there, in their language.

import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { EditorState, Prec, StateEffect } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";
import i18next from "i18next";
import { loadTexts } from "../i18n";

/** From then on its keys are the editor's own. */
export async function beginSearch(view: EditorView) {
  // Without its texts it is searched in English.
  await loadTexts(["code"]).catch(() => {});
  const phrases = i18next.t("code:phrases", { returnObjects: true }) as Record<string, string>;
  const searching = [EditorState.phrases.of(phrases), search({ top: true }), Prec.high(keymap.of(searchKeymap))];
  view.dispatch({ effects: StateEffect.appendConfig.of(searching) });
  openSearchPanel(view);
}
