// Enter sends, Shift+Enter begins a line. A Korean syllable that is still being composed is finished by the same Enter: the
// browser tells us of it before the syllable is in the field, so it is sent once the composing has ended, exactly once.

import type { CompositionEvent, KeyboardEvent } from "react";
import { useRef } from "react";

const ENDS_IN_HANGUL = /\p{Script=Hangul}$/u;

export function useSendOnEnter(send: () => void) {
  const isPending = useRef(false);
  return {
    onKeyDown(event: KeyboardEvent) {
      if (event.key !== "Enter" && event.keyCode !== 13) return;
      if (event.shiftKey) return;
      if (event.nativeEvent.isComposing || event.keyCode === 229) {
        isPending.current = true;
        return;
      }
      event.preventDefault();
      send();
    },
    onCompositionEnd(event: CompositionEvent) {
      // In Japanese and Chinese the Enter only chooses what was composed.
      const isMeant = isPending.current && ENDS_IN_HANGUL.test(event.data);
      isPending.current = false;
      // The field has its last letter only after this event.
      if (isMeant) setTimeout(send, 0);
    },
  };
}
