// Buttons. An icon alone always has a name that is read out, and shown as a tooltip.

import clsx from "clsx";
import type { LucideIcon } from "lucide-react";
import { LoaderCircle } from "lucide-react";
import type { ButtonHTMLAttributes, Ref } from "react";
import { Tip } from "./tip";

export type Look = "primary" | "plain" | "quiet" | "danger";

const looks: Record<Look, string> = {
  primary: "bg-accent text-accent-fg border-transparent hover:brightness-110",
  plain: "bg-panel border-border hover:bg-sunken",
  quiet: "border-transparent hover:bg-sunken",
  danger: "bg-danger-soft text-danger border-transparent hover:brightness-95 dark:hover:brightness-125",
};

export function buttonClass(look: Look = "plain", small = false) {
  return clsx(
    "inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none no-underline",
    "disabled:opacity-50 disabled:cursor-not-allowed transition-[background,filter] duration-100",
    small ? "h-7 px-2 text-sm" : "h-8 px-3 text-base",
    looks[look],
  );
}

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: Look;
  small?: boolean;
  icon?: LucideIcon;
  /** Shows that it is at work, and takes no further click. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
};

export function Button({ look, small, icon: Icon, busy, children, className, disabled, ...rest }: Props) {
  const Shown = busy ? LoaderCircle : Icon;
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={clsx(buttonClass(look, small), className)}
    >
      {Shown && <Shown aria-hidden className={clsx("size-4 shrink-0", busy && "animate-spin")} />}
      {children}
    </button>
  );
}

type IconProps = Omit<Props, "icon" | "children"> & { icon: LucideIcon; label: string };

export function IconButton({ icon: Icon, label, look = "quiet", small, className, busy, ...rest }: IconProps) {
  const Shown = busy ? LoaderCircle : Icon;
  return (
    <Tip text={label}>
      <button
        type="button"
        aria-label={label}
        {...rest}
        disabled={rest.disabled || busy}
        className={clsx(buttonClass(look, small), small ? "w-7" : "w-8", "shrink-0 px-0!", className)}
      >
        <Shown aria-hidden className={clsx("size-4", busy && "animate-spin")} />
      </button>
    </Tip>
  );
}
