// Both languages say the same things: the same keys, the same placeholders, nothing left empty.

import { expect, test } from "vitest";
import en from "./en";
import ko from "./ko";

type Tree = { [key: string]: string | Tree };

function flat(tree: Tree, before = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(tree)) {
    if (typeof value === "string") found.set(before + key, value);
    else for (const [inner, text] of flat(value, `${before}${key}.`)) found.set(inner, text);
  }
  return found;
}

// English counts one and many apart, Korean does not.
const counted = (key: string) => key.replace(/_(one|other)$/, "");
const places = (text: string) => [...text.matchAll(/\{\{(\w+)/g)].map((m) => m[1]).sort();

test("the same keys in both languages", () => {
  const keys = (tree: Tree) => [...new Set([...flat(tree).keys()].map(counted))].sort();
  expect(keys(ko as Tree)).toEqual(keys(en as Tree));
});

// The words of whoever asked for the program: what a tool declares is its 파라미터, what a call hands over is an 인자.
test("one Korean word for one thing, and particles joined to their word", () => {
  for (const [key, text] of flat(ko as Tree)) {
    expect(text, key).not.toMatch(/매개변수|(?<!\p{L})인수/u);
    expect(text, key).not.toMatch(/[\p{L}\p{N}}] (?:을\(를\)|은\(는\)|이\(가\)|와\(과\)|\(으\)로)/u);
  }
});

test("the same placeholders, and no empty text", () => {
  const english = flat(en as Tree);
  for (const [key, text] of flat(ko as Tree)) {
    expect(text.trim(), key).not.toBe("");
    const other = english.get(key) ?? english.get(`${counted(key)}_other`) ?? "";
    expect(places(text), key).toEqual(places(other));
  }
});
