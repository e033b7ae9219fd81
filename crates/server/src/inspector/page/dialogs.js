// Dialogs: asking for a confirmation or for values, and telling what went wrong.

import { fill, h } from "./element.js";

/**
 * Opens a dialog with a form. `submit` is called with the form when it is sent; the dialog closes unless that fails,
 * and then tells why.
 * @param {object} parts
 * @param {string} parts.title
 * @param {(Node | string | null | false | undefined)[]} parts.body
 * @param {string} parts.action the label of the button that sends it
 * @param {boolean} [parts.isDangerous]
 * @param {(form: FormData) => Promise<unknown>} parts.submit
 * @returns {HTMLDialogElement}
 */
export function ask({ title, body, action, isDangerous = false, submit }) {
  const told = h("p", { class: "error", role: "alert" });
  const send = h("button", { class: isDangerous ? "primary dangerous" : "primary" }, action);
  const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "dialog-title" }, title),
    ...body,
    told,
    h("div", { class: "buttons" }, cancel, send),
  );
  const dialog = h("dialog", { "aria-labelledby": "dialog-title", onclose: () => dialog.remove() }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    fill(told);
    try {
      await submit(new FormData(form));
      dialog.close();
    } catch (error) {
      fill(told, /** @type {Error} */ (error).message);
    } finally {
      send.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * The text of a field of a form.
 * @param {FormData} form
 * @param {string} name
 */
export const given = (form, name) => String(form.get(name) ?? "").trim();

const told = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

/**
 * Tells something in passing.
 * @param {string} text
 * @param {"done" | "failed"} [kind]
 */
export function tell(text, kind = "done") {
  if (!told.isConnected) document.body.append(told);
  const toast = h("p", { class: `toast ${kind}` }, text);
  told.append(toast);
  setTimeout(() => toast.remove(), kind === "failed" ? 8_000 : 3_000);
}

/**
 * Does something, and tells if it fails.
 * @param {() => Promise<unknown>} act
 */
export async function attempt(act) {
  try {
    return await act();
  } catch (error) {
    tell(/** @type {Error} */ (error).message, "failed");
    return undefined;
  }
}
