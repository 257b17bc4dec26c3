// Every area of the texts: what the other language and the types are checked against. Pages load single areas.

import agents from "./agents.json";
import analytics from "./analytics.json";
import audit from "./audit.json";
import code from "./code.json";
import codes from "./codes.json";
import connect from "./connect.json";
import deleted from "./deleted.json";
import editor from "./editor.json";
import errors from "./errors.json";
import executions from "./executions.json";
import form from "./form.json";
import frame from "./frame.json";
import home from "./home.json";
import keys from "./keys.json";
import limits from "./limits.json";
import openapi from "./openapi.json";
import palette from "./palette.json";
import plan from "./plan.json";
import playground from "./playground.json";
import policies from "./policies.json";
import programs from "./programs.json";
import request from "./request.json";
import result from "./result.json";
import runs from "./runs.json";
import safety from "./safety.json";
import servers from "./servers.json";
import settings from "./settings.json";
import sources from "./sources.json";
import testing from "./testing.json";
import tools from "./tools.json";
import toolsets from "./toolsets.json";
import users from "./users.json";
import versions from "./versions.json";

export default {
  agents,
  analytics,
  audit,
  code,
  codes,
  connect,
  frame,
  deleted,
  editor,
  errors,
  executions,
  form,
  home,
  keys,
  limits,
  palette,
  openapi,
  plan,
  playground,
  policies,
  programs,
  request,
  result,
  runs,
  safety,
  servers,
  settings,
  sources,
  testing,
  tools,
  toolsets,
  users,
  versions,
};
