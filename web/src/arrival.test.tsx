// The focus is at the heading of the page that somebody came to.

import { cleanup, render, screen } from "@testing-library/react";
import { StrictMode } from "react";
import { afterEach, expect, test } from "vitest";
import { expectArrival } from "./arrival";
import { Page } from "./ui/page";

afterEach(cleanup);

const shown = (title: string) => (
  <StrictMode>
    <a href="/other">Another page</a>
    <main id="main">
      <Page key={title} title={title}>
        <input aria-label="field" />
      </Page>
    </main>
  </StrictMode>
);

const settled = () => new Promise((done) => setTimeout(done, 5));
const heading = (name: string) => screen.getByRole("heading", { name });
const going = (to: string) => expectArrival({ fromLocation: { pathname: "/" }, pathChanged: to !== "/" });

test("another page takes the focus to its heading", async () => {
  const { rerender } = render(shown("First"));
  screen.getByRole("link").focus();
  going("/second");
  rerender(shown("Second"));
  await settled();
  expect(document.activeElement).toBe(heading("Second"));
});

test("the first page, and a change within the page, leave it where it is", async () => {
  expectArrival({ pathChanged: true });
  const { rerender } = render(shown("First"));
  screen.getByRole("link").focus();
  going("/");
  rerender(shown("Second"));
  await settled();
  expect(document.activeElement).toBe(screen.getByRole("link"));
});

test("whoever already writes in the new page goes on writing", async () => {
  const { rerender } = render(shown("First"));
  going("/second");
  rerender(shown("Second"));
  screen.getByLabelText("field").focus();
  await settled();
  expect(document.activeElement).toBe(screen.getByLabelText("field"));
});
