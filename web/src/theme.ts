// Light, dark, or as the system has it.

export type Theme = "light" | "dark" | "system";

export const chosenTheme = (): Theme => (localStorage.getItem("toolcrib.theme") as Theme | null) ?? "system";

export function paint(theme: Theme) {
  localStorage.setItem("toolcrib.theme", theme);
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
}
