// On or off, at once.

import clsx from "clsx";

type Props = { on: boolean; label: string; disabled?: boolean; onChange: (on: boolean) => void };

export function Switch({ on, label, disabled, onChange }: Props) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-label={label}
      disabled={disabled}
      onClick={(event) => {
        // What it stands in may open something when it is clicked.
        event.stopPropagation();
        onChange(!on);
      }}
      className={clsx(
        "relative h-5 w-9 shrink-0 rounded-full border transition-colors duration-100 disabled:opacity-50",
        on ? "border-accent bg-accent" : "border-strong bg-sunken",
      )}
    >
      <span
        className={clsx(
          "block size-3.5 rounded-full transition-transform duration-100",
          on ? "translate-x-[17px] bg-white" : "translate-x-[3px] bg-strong",
        )}
      />
    </button>
  );
}
