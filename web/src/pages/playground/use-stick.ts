// Keeps the end in sight while one is there; whoever has scrolled up is left alone and told that there is more.

import { useCallback, useEffect, useRef, useState } from "react";

const NEAR = 48;

export function useStick() {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const [hasMore, setMore] = useState(false);
  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
    isAtEnd.current = true;
    setMore(false);
  }, []);
  useEffect(() => {
    const box = scroller.current;
    if (!box || !content.current) return;
    const looked = () => {
      isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      if (isAtEnd.current) setMore(false);
    };
    const grown = new ResizeObserver(() => {
      if (isAtEnd.current) box.scrollTop = box.scrollHeight;
      else setMore(true);
    });
    grown.observe(content.current);
    box.addEventListener("scroll", looked, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener("scroll", looked);
    };
  }, []);
  return { scroller, content, hasMore, toEnd };
}
