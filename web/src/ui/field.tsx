// What people type into: a label that belongs to it, a hint, and what is wrong with it, read out together.

import clsx from "clsx";
import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

export const inputClass =
  "w-full rounded-md border border-strong/60 bg-panel px-2.5 text-base placeholder:text-muted aria-invalid:border-danger disabled:opacity-60";

type Told = { id: string; "aria-describedby": string | undefined; "aria-invalid": true | undefined };

type FieldProps = {
  label: ReactNode;
  hint?: ReactNode;
  problem?: ReactNode;
  required?: boolean;
  className?: string;
  /** Draws the control with what ties it to its label. */
  children: (told: Told) => ReactNode;
};

export function Field({ label, hint, problem, required, className, children }: FieldProps) {
  const id = useId();
  const told = [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div className={clsx("grid content-start gap-1", className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
        {required && (
          <span aria-hidden className="text-danger">
            {" *"}
          </span>
        )}
      </label>
      {children({ id, "aria-describedby": told || undefined, "aria-invalid": problem ? true : undefined })}
      {problem && (
        <p id={`${id}-problem`} className="text-sm text-danger">
          {problem}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <input {...rest} className={clsx(inputClass, "h-8", className)} />;
}

export function TextArea({
  className,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { ref?: Ref<HTMLTextAreaElement> }) {
  return <textarea rows={3} {...rest} className={clsx(inputClass, "min-h-16 py-1.5", className)} />;
}

export function Select({
  className,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { ref?: Ref<HTMLSelectElement> }) {
  return <select {...rest} className={clsx(inputClass, "h-8 pr-7", className)} />;
}

type Plain = Omit<FieldProps, "children">;

/** A line of text with its label. */
export function TextField({
  label,
  hint,
  problem,
  required,
  className,
  ...rest
}: Plain & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field {...{ label, hint, problem, required, className }}>
      {(told) => <Input {...rest} {...told} aria-required={required} />}
    </Field>
  );
}

/** A box to tick, with its label behind it. */
export function Check({ label, className, ...rest }: { label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className={clsx("inline-flex items-center gap-2 select-none", className)}>
      <input type="checkbox" {...rest} className="size-4 accent-accent" />
      <span>{label}</span>
    </label>
  );
}
