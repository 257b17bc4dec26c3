// A value that is shown is the value: colours take nothing away and add nothing.

import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Json } from "./json";

afterEach(cleanup);

const shown = (value: unknown) => {
  const { container } = render(<Json value={value} label="value" />);
  const blocks = [...container.querySelectorAll("pre > span")].map((block) => block.textContent);
  return { text: blocks.join("\n"), container };
};

test("shows every letter of a value, whatever stands in it", () => {
  const value = {
    'a "quoted": name': "true, 1 and null: \\",
    numbers: [0, -1.5, 1e21, 3e-7],
    others: [true, false, null, {}, []],
    "한글 이름": "줄\n바꿈",
  };
  expect(JSON.parse(shown(value).text)).toEqual(value);
  cleanup();
  expect(shown(undefined).text).toBe("null");
});

test("names and texts have different colours", () => {
  const { container } = shown({ name: "text" });
  const colours = [...container.querySelectorAll("[style*=syn]")].map((one) => [
    one.textContent,
    (one as HTMLElement).style.color,
  ]);
  expect(colours).toEqual([
    ['"name"', "var(--syn-type)"],
    ['"text"', "var(--syn-string)"],
  ]);
});

test("a long value is whole", () => {
  const value = Array.from({ length: 20_000 }, (_, at) => `entry number ${at}`);
  const { text, container } = shown(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(container.querySelectorAll("pre > span").length).toBeGreaterThan(100);
});
