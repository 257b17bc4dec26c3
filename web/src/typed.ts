// The text of a field that stands in the address, too.

import { type ChangeEvent, useEffect, useRef, useState } from "react";
import { useAddress } from "./search";

/**
 * What a field for a parameter of the address needs. The field holds the text itself: the address follows a moment later, and
 * taking the text from there would lose what was typed since, and break a Korean syllable.
 */
export function useTyped(param: string) {
  const [found, change] = useAddress();
  const there = found[param] ?? "";
  const [text, setText] = useState(there);
  const isHere = useRef(false);
  // Going back, or Clear filters, changes the address behind the field.
  useEffect(() => {
    if (!isHere.current) setText(there);
  }, [there]);
  return {
    value: text,
    onFocus: () => {
      isHere.current = true;
    },
    onBlur: () => {
      isHere.current = false;
    },
    onChange: (event: ChangeEvent<HTMLInputElement>) => {
      setText(event.target.value);
      change({ [param]: event.target.value || undefined });
    },
  };
}
