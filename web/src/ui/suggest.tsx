// A line of text with proposals; anything else may be typed as well.

import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import { Field, Input } from "./field";

type Props = InputHTMLAttributes<HTMLInputElement> & {
  label: ReactNode;
  hint?: ReactNode;
  problem?: ReactNode;
  required?: boolean;
  options: Array<string | { value: string; label: string }>;
};

export function Suggest({ label, hint, problem, required, className, options, ...rest }: Props) {
  const list = useId();
  return (
    <Field {...{ label, hint, problem, required, className }}>
      {(told) => (
        <>
          <Input {...rest} {...told} list={list} autoComplete="off" spellCheck={false} aria-required={required} />
          <datalist id={list}>
            {options.map((option) =>
              typeof option === "string" ? (
                <option key={option} value={option} />
              ) : (
                <option key={option.value} value={option.value}>
                  {option.label}
                </option>
              ),
            )}
          </datalist>
        </>
      )}
    </Field>
  );
}
