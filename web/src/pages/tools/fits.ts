// What a list of tools is filtered by that the server does not filter by.

import type { ToolView } from "../../api/schema";

export function fitsState(tool: ToolView, state: string): boolean {
  if (state === "trouble") return !!tool.trouble || (tool.flags?.length ?? 0) > 0;
  if (state === "failing") return (tool.tested?.failed ?? 0) > 0;
  return true;
}
