// Arguments of a program are handed on letter by letter, whatever is in them.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import { exactLinesOf, exactText, Lines } from "./lines";

afterEach(cleanup);

test("every list of arguments can be written, and is read as it was", () => {
  const lists = [
    [],
    ["-y", "@scope/server", "/srv/my docs "],
    ["  two spaces", "", "after an empty one"],
    ["last is empty", ""],
    [""],
    ["-c", "line one\nline two"],
    ['"quoted"', '{"a": 1}', '"half'],
  ];
  for (const list of lists) expect(exactLinesOf(exactText(list))).toEqual(list);
});

let now: string[] = [];
function Form() {
  const [value, setValue] = useState<string[]>([]);
  now = value;
  return <Lines exact label="args" value={value} onChange={setValue} />;
}

test("the line that was just begun is no argument, and what is typed stays as it is typed", () => {
  render(<Form />);
  const box = screen.getByLabelText("args") as HTMLTextAreaElement;
  const type = (value: string) => fireEvent.change(box, { target: { value } });
  type("-y\n");
  expect(now).toEqual(["-y"]);
  expect(box.value).toBe("-y\n");
  type("-y\n\n/srv ");
  expect(now).toEqual(["-y", "", "/srv "]);
  type('"a b"');
  expect(now).toEqual(["a b"]);
  expect(box.value).toBe('"a b"');
});
