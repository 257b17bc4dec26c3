// A schema that is being written stays in sight, and is handed on as text until it is one.

import { cleanup, render } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test } from "vitest";
import editor from "../../i18n/en/editor.json";
import { Advanced } from "./parameter-advanced";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { editor } } });
});
afterEach(cleanup);

const shown = (unread?: string) => (
  <Advanced
    name="id"
    schema={{ type: "string" }}
    unread={unread}
    onChange={() => {}}
    onText={() => {}}
    onEnum={() => {}}
  />
);
const details = () => document.querySelector("details")!;

test("the schema does not close when it can be read again", () => {
  const { rerender } = render(shown('{"type": '));
  expect(details().open).toBe(true);
  rerender(shown());
  expect(details().open).toBe(true);
});

test("nor does it open or close by what is typed", () => {
  const { rerender } = render(shown());
  details().open = true;
  rerender(shown("{"));
  rerender(shown());
  expect(details().open).toBe(true);
});
