// A few ways of which one is chosen, each said in full: for what must never be the mere absence of something else.

import { type ReactNode, useId } from "react";

type Choice<T extends string> = { value: T; label: ReactNode; hint?: ReactNode };

type Props<T extends string> = {
  label: string;
  choices: Array<Choice<T>>;
  value: T;
  disabled?: boolean;
  onChange: (value: T) => void;
};

export function Choices<T extends string>({ label, choices, value, disabled, onChange }: Props<T>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className="flex flex-wrap gap-x-6 gap-y-2">
      {choices.map((choice) => (
        <label key={choice.value} className="inline-flex items-start gap-2 select-none">
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            disabled={disabled}
            onChange={() => onChange(choice.value)}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span>
            {choice.label}
            {choice.hint && <span className="block text-xs text-muted">{choice.hint}</span>}
          </span>
        </label>
      ))}
    </div>
  );
}
