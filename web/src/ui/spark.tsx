// A line as small as a word.

export function Spark({ values, bad, label }: { values: number[]; bad?: number[]; label: string }) {
  const top = Math.max(1, ...values);
  const width = 80;
  const height = 20;
  const step = width / Math.max(1, values.length);
  const bars = (list: number[], fill: string) =>
    list.map((value, at) => {
      const tall = value === 0 ? 0 : Math.max(1.5, (value / top) * height);
      // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
      return <rect key={at} x={at * step} y={height - tall} width={Math.max(1, step - 1)} height={tall} fill={fill} />;
    });
  return (
    <svg role="img" aria-label={label} width={width} height={height} className="block">
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} stroke="var(--border)" />
      {bars(values, "var(--accent)")}
      {bad && bars(bad, "var(--danger)")}
    </svg>
  );
}
