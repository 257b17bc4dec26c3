// How much air there is between things.

export type Density = "comfortable" | "compact";

export const chosenDensity = (): Density =>
  localStorage.getItem("toolcrib.density") === "compact" ? "compact" : "comfortable";

export function space(density: Density) {
  localStorage.setItem("toolcrib.density", density);
  document.documentElement.classList.toggle("compact", density === "compact");
}
