// On or off, at once.

import clsx from "clsx";
import { Switch as Radix } from "radix-ui";

type Props = { on: boolean; label: string; disabled?: boolean; onChange: (on: boolean) => void };

export function Switch({ on, label, disabled, onChange }: Props) {
  return (
    <Radix.Root
      checked={on}
      aria-label={label}
      disabled={disabled}
      onCheckedChange={onChange}
      onClick={(event) => event.stopPropagation()}
      className={clsx(
        "relative h-5 w-9 shrink-0 rounded-full border transition-colors duration-100 disabled:opacity-50",
        on ? "border-accent bg-accent" : "border-strong bg-sunken",
      )}
    >
      <Radix.Thumb
        className={clsx(
          "block size-3.5 rounded-full transition-transform duration-100",
          on ? "translate-x-[17px] bg-white" : "translate-x-[3px] bg-strong",
        )}
      />
    </Radix.Root>
  );
}
