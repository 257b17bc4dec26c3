// A hand on the mouse: dragging as people do it, and the place in an editor's text that one would drop something at.

import type { Locator, Page } from "playwright-core";

type Point = { x: number; y: number };

const middle = async (of: Locator): Promise<Point> => {
  await of.scrollIntoViewIfNeeded();
  const box = await of.boundingBox();
  if (!box) throw new Error(`${of} is nowhere to be seen`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
};

/** Drags something, with the button held down all the way. */
export async function drag(page: Page, what: Locator, to: Locator | (() => Promise<Point>)) {
  await what.scrollIntoViewIfNeeded();
  const end = typeof to === "function" ? await to() : await middle(to);
  // Waits until it stands still and is what the pointer is on.
  await what.hover();
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 6 });
  await page.mouse.up();
}

/** Where the caret would stand behind these letters in an editor. */
export const behind = (editor: Locator, letters: string): Promise<Point> =>
  editor.evaluate((content, letters) => {
    const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
    let left = (content.textContent ?? "").indexOf(letters) + letters.length;
    if (left < letters.length) throw new Error(`the editor has no ${letters}: ${content.textContent}`);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const length = node.textContent?.length ?? 0;
      if (left <= length) {
        const range = document.createRange();
        range.setStart(node, Math.max(0, left - 1));
        range.setEnd(node, left);
        const box = range.getBoundingClientRect();
        return { x: box.right, y: box.top + box.height / 2 };
      }
      left -= length;
    }
    throw new Error("there is nothing behind the last letter");
  }, letters);
