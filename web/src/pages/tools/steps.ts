// The four steps of the editor, each loaded when it is looked at: one is seen at a time.

import { type ComponentProps, type ComponentType, lazy } from "react";
import type { Basics } from "./basics";
import type { StepId } from "./draft";
import type { Logic } from "./logic";
import type { Parameters } from "./parameters";
import type { TestStep } from "./test-step";

const load = {
  basics: async () => (await import("./basics")).Basics,
  parameters: async () => (await import("./parameters")).Parameters,
  logic: async () => (await import("./logic")).Logic,
  test: async () => (await import("./test-step")).TestStep,
};

const step = <P extends object>(coming: () => Promise<ComponentType<P>>) =>
  lazy(async () => ({ default: await coming() }));

export const Steps = {
  basics: step<ComponentProps<typeof Basics>>(load.basics),
  parameters: step<ComponentProps<typeof Parameters>>(load.parameters),
  logic: step<ComponentProps<typeof Logic>>(load.logic),
  test: step<ComponentProps<typeof TestStep>>(load.test),
};

/** Whoever points at a step is about to open it. */
export const comingStep = (id: StepId | undefined) => void (id && load[id]().catch(() => {}));
