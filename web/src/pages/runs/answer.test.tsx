// Answers that are JSON are shown so that people can read them; others stay as they are, and the text is always there.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test } from "vitest";
import result from "../../i18n/en/result.json";
import runs from "../../i18n/en/runs.json";
import { Answer, dataIn } from "./answer";

beforeAll(() => i18next.use(initReactI18next).init({ lng: "en", resources: { en: { runs, result } } }));
afterEach(cleanup);

const show = (text: string) =>
  render(
    <Answer text={text}>
      <p>{text}</p>
    </Answer>,
  );

test("only what says more than a word is taken apart", () => {
  for (const text of ["15", "hello", '"a"', "{not json}", "[1, 2", "true"]) expect(dataIn(text), text).toBeUndefined();
  expect(dataIn(" null ")).toEqual({ data: null });
});

test("rows are a table, also within the one member that holds them", () => {
  for (const text of ['[{"a": 1}, {"a": 2}]', '{"items": [{"a": 1}, {"a": 2}]}']) {
    show(text);
    expect(screen.getByRole("columnheader").textContent).toBe("a");
    expect(screen.getAllByRole("cell").map((cell) => cell.textContent)).toEqual(["1", "2"]);
    cleanup();
  }
});

test("an object is a list of what it holds, and its text is a click away", () => {
  show('{"user_nm": "hong", "max_count": 50}');
  expect(screen.getByText("hong").tagName).toBe("DD");
  fireEvent.click(screen.getByRole("button", { name: runs.raw }));
  expect(screen.getByText(/"user_nm": "hong"/).tagName).toBe("PRE");
});

test("what is no JSON is shown as it always was", () => {
  show("It is 15.");
  expect(screen.getByText("It is 15.").tagName).toBe("P");
  expect(screen.queryByRole("button")).toBeNull();
});
