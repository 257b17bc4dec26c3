// Searching within an editor. It comes when somebody first searches there.

import { openSearchPanel, search, searchKeymap } from "@codemirror/search";
import { Prec, StateEffect } from "@codemirror/state";
import { type EditorView, keymap } from "@codemirror/view";

/** From then on its keys are the editor's own. */
export function beginSearch(view: EditorView) {
  const searching = [search({ top: true }), Prec.high(keymap.of(searchKeymap))];
  view.dispatch({ effects: StateEffect.appendConfig.of(searching) });
  openSearchPanel(view);
}
