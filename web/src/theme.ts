// Light, dark, or as the system has it.

export type Theme = "light" | "dark" | "system";

export const chosenTheme = (): Theme => (localStorage.getItem("toolcrib.theme") as Theme | null) ?? "system";

const systemIsDark = () => matchMedia("(prefers-color-scheme: dark)");

function show(theme: Theme) {
  const dark = theme === "dark" || (theme === "system" && systemIsDark().matches);
  document.documentElement.classList.toggle("dark", dark);
}

export function paint(theme: Theme) {
  localStorage.setItem("toolcrib.theme", theme);
  show(theme);
}

/** The system may go dark in the evening, while the page is open. */
export function followSystem() {
  systemIsDark().addEventListener("change", () => show(chosenTheme()));
}
