// Runs before the first paint, so that nobody who prefers dark sees a white flash. A file of its own: the page's
// Content-Security-Policy lets no script stand inside it.
(() => {
  const chosen = localStorage.getItem("toolcrib.theme") ?? "system";
  const dark = chosen === "dark" || (chosen === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
  document.documentElement.classList.toggle("compact", localStorage.getItem("toolcrib.density") === "compact");
  document.documentElement.lang =
    localStorage.getItem("toolcrib.language") ?? (navigator.language.startsWith("ko") ? "ko" : "en");
})();
