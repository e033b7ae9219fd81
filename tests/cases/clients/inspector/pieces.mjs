// Parts of the page, as a person finds them.

import { expect } from "./expect.mjs";

/** The article of a sequence. */
export const said = (page, sequence) => page.locator(`article[data-sequence="${sequence}"]`);
export const panel = (page) => page.getByRole("tabpanel").filter({ visible: true });
export const dialog = (page) => page.getByRole("dialog");
export const strip = (page) => page.getByRole("img", { name: /^Window:/ });

/** The field of the open dialog with this label. */
export const field = (page, label) => dialog(page).getByLabel(label, { exact: true });

/** Chooses an action of the menu of a conversation. */
export async function choose(page, label) {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("button", { name: label }).click();
}

/** Presses a button of an utterance. */
export async function act(page, label) {
  const button = page.getByRole("button", { name: label, exact: true });
  await button.scrollIntoViewIfNeeded();
  await button.click();
}

/** Sends the open dialog, and waits until it has closed. */
export async function send(page, label) {
  await dialog(page).getByRole("button", { name: label, exact: true }).click();
  await expect(dialog(page)).gone();
}
