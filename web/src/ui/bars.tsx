// Bars over time that one can drag over to choose a span. Whoever has no mouse chooses it in the fields beside it.

import { memo, type PointerEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { momentLabel, type Span } from "../span";

export type Bar = Span & { calls: number; errors: number };

type Props = {
  bars: Bar[];
  /** Read out as what it shows. */
  label: string;
  names: { calls: string; errors: string };
  onChoose?: (span: Span) => void;
  /** The counts are on their way. */
  isPending?: boolean;
  height?: number;
};

/** Drawn anew only when the counts change, not while the pointer moves over them, and as two shapes however many bars there are. */
const Columns = memo(({ bars, height }: { bars: Bar[]; height: number }) => {
  const top = Math.max(1, ...bars.map((bar) => bar.calls));
  // Whatever is there is seen, and leaves a gap to the next.
  const tall = (count: number) => (count === 0 ? 0 : Math.max(2, (count / top) * (height - 2)));
  const shape = (of: (bar: Bar) => [from: number, tall: number]) =>
    bars
      .map((bar, at) => {
        const [from, size] = of(bar);
        return size === 0 ? "" : `M${at + 0.04} ${height - from}v${-size}h0.92v${size}z`;
      })
      .join("");
  return (
    <svg aria-hidden className="relative size-full" viewBox={`0 0 ${bars.length} ${height}`} preserveAspectRatio="none">
      <path fill="var(--danger)" d={shape((bar) => [0, tall(bar.errors)])} />
      <path fill="var(--accent)" d={shape((bar) => [tall(bar.errors), tall(bar.calls - bar.errors)])} />
    </svg>
  );
});

export function Bars({ bars, label, names, onChoose, isPending, height = 64 }: Props) {
  const { i18n } = useTranslation();
  const place = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useState<[number, number]>();
  const [over, setOver] = useState<number>();
  const at = (event: PointerEvent) => {
    const box = place.current?.getBoundingClientRect();
    if (!box?.width) return 0;
    const share = (event.clientX - box.left) / box.width;
    return Math.min(bars.length - 1, Math.max(0, Math.floor(share * bars.length)));
  };
  const begin = (event: PointerEvent<HTMLDivElement>) => {
    if (!onChoose || event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    setChosen([at(event), at(event)]);
  };
  const move = (event: PointerEvent<HTMLDivElement>) => {
    setOver(at(event));
    if (chosen) setChosen([chosen[0], at(event)]);
  };
  const end = () => {
    if (!chosen) return;
    setChosen(undefined);
    const [first, last] = chosen[0] <= chosen[1] ? chosen : [chosen[1], chosen[0]];
    if (bars[first] && bars[last]) onChoose?.({ from: bars[first].from, to: bars[last].to });
  };
  const marked = chosen
    ? ([Math.min(...chosen), Math.max(...chosen)] as const)
    : over === undefined
      ? undefined
      : ([over, over] as const);
  const size = bars[0] ? bars[0].to - bars[0].from : 0;
  const isLong = bars.length > 0 && bars.at(-1)!.to - bars[0]!.from > 20 * 3_600_000;
  const told = over === undefined ? undefined : bars[over];
  const labels = bars.length > 1 ? [bars[0]!, bars[Math.floor(bars.length / 2)]!, bars.at(-1)!] : bars;
  return (
    <figure className="m-0 select-none" data-status={isPending ? "loading" : undefined}>
      <div
        ref={place}
        role="img"
        aria-label={label}
        style={{ height }}
        className={`relative touch-pan-y border-b ${onChoose ? "cursor-crosshair" : ""}`}
        onPointerDown={begin}
        onPointerMove={move}
        onPointerUp={end}
        onPointerCancel={() => setChosen(undefined)}
        onPointerLeave={() => setOver(undefined)}
      >
        {marked && (
          <div
            className={`absolute inset-y-0 ${chosen ? "bg-accent-soft" : "bg-sunken"}`}
            style={{
              left: `${(marked[0] / bars.length) * 100}%`,
              width: `${((marked[1] - marked[0] + 1) / bars.length) * 100}%`,
            }}
          />
        )}
        <Columns bars={bars} height={height} />
      </div>
      <figcaption className="mt-1 flex justify-between text-xs text-muted tabular-nums">
        {told ? (
          <span>
            {momentLabel(told.from, size, i18n.language, isLong)} – {momentLabel(told.to, size, i18n.language)}:{" "}
            {told.calls.toLocaleString(i18n.language)} {names.calls}, {told.errors.toLocaleString(i18n.language)}{" "}
            {names.errors}
          </span>
        ) : (
          labels.map((bar) => <span key={bar.from}>{momentLabel(bar.from, size, i18n.language, isLong)}</span>)
        )}
      </figcaption>
    </figure>
  );
}
