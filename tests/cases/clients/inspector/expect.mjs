// Waiting for what the page is to show.

import assert from "node:assert/strict";

const [PATIENCE, PAUSE] = [30_000, 30];

/** Waits until `value` is as `test` wants it. */
export async function until(value, test, told) {
  const deadline = Date.now() + PATIENCE;
  let last;
  do {
    last = await value();
    if (test(last)) return last;
    await new Promise((wake) => setTimeout(wake, PAUSE));
  } while (Date.now() < deadline);
  assert.fail(`${told}: ${JSON.stringify(last)}`);
}

/** What is expected of a locator. */
export const expect = (locator) => ({
  shown: () => locator.first().waitFor({ state: "visible" }),
  gone: () =>
    until(
      () => locator.count(),
      (count) => count === 0,
      `${locator} is still there`,
    ),
  count: (wanted) =>
    until(
      () => locator.count(),
      (count) => count === wanted,
      `${locator}: not ${wanted}`,
    ),
  holds: (...parts) => {
    const texts = async () => (await locator.allInnerTexts()).join("\n").replaceAll(/\s+/g, " ");
    const isIn = (text) => parts.every((part) => (part instanceof RegExp ? part.test(text) : text.includes(part)));
    return until(texts, isIn, `${locator} lacks ${parts}`);
  },
  lacks: (part) =>
    until(
      async () => (await locator.allInnerTexts()).join("\n"),
      (text) => !text.includes(part),
      `${locator} has ${part}`,
    ),
  has: (attribute, wanted) =>
    until(
      () => locator.getAttribute(attribute),
      (value) => value === wanted,
      `${locator}: ${attribute} is not ${wanted}`,
    ),
});
