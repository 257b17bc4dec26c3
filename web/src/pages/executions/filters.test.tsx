// A name to filter by: what is typed stays, what changes elsewhere is shown.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";
import { NameFilter } from "./filters";

afterEach(cleanup);

// The address follows a moment later.
const later = (change: () => void) => setTimeout(change, 5);
const settled = () => act(() => new Promise((done) => setTimeout(done, 20)));

function Filters() {
  const [value, setValue] = useState("");
  return (
    <>
      <NameFilter
        label="Tool"
        value={value}
        offered={["sum", "summary"]}
        onChange={(next) => void later(() => setValue(next))}
      />
      <button type="button" onClick={() => setValue("")}>
        Clear
      </button>
      <output>{value}</output>
    </>
  );
}

test("a name that is the beginning of another does not get in the way of typing it", async () => {
  render(<Filters />);
  const field = screen.getByLabelText("Tool") as HTMLInputElement;
  const type = (value: string) => fireEvent.change(field, { target: { value } });
  field.focus();
  type("sum");
  type("summ");
  await settled();
  expect(screen.getByRole("status").textContent).toBe("sum");
  expect(field.value).toBe("summ");
  fireEvent.blur(field);
  await settled();
  expect(screen.getByRole("status").textContent).toBe("summ");
  fireEvent.click(screen.getByText("Clear"));
  expect(field.value).toBe("");
});
