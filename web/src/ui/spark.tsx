// A line as small as a word.

const WIDTH = 80;
const HEIGHT = 20;

/** All bars as one path: a list has one of these in every row. */
function path(list: number[], top: number): string {
  const step = WIDTH / Math.max(1, list.length);
  const wide = Math.max(1, step - 1).toFixed(2);
  return list
    .map((value, at) => {
      if (value === 0) return "";
      const tall = Math.max(1.5, (value / top) * HEIGHT);
      return `M${(at * step).toFixed(2)} ${HEIGHT}v-${tall.toFixed(2)}h${wide}V${HEIGHT}z`;
    })
    .join("");
}

export function Spark({ values, bad, label }: { values: number[]; bad?: number[]; label: string }) {
  const top = Math.max(1, ...values);
  return (
    <svg role="img" aria-label={label} width={WIDTH} height={HEIGHT} className="block shrink-0">
      <path d={`M0 ${HEIGHT - 0.5}h${WIDTH}`} stroke="var(--border)" />
      <path d={path(values, top)} fill="var(--accent)" />
      {bad && <path d={path(bad, top)} fill="var(--danger)" />}
    </svg>
  );
}
