// The state of a conversation or of its recipient: named values, which can be added, changed and deleted.

import { call } from "./calls.js";
import { ask, given } from "./dialogs.js";
import { field, h } from "./element.js";
import { count, indented } from "./words.js";

/**
 * @typedef {object} Owner Whose state it is.
 * @property {object} address the part of a request that names it
 * @property {() => void} changed called after a change
 */

/** The values of a state, by name. @param {object} address @returns {Promise<any[]>} */
export async function values(address) {
  return (await call("ConversationService/GetState", address)).values ?? [];
}

/**
 * Shows a state.
 * @param {Owner} owner
 * @param {any[]} found its values
 */
export function state(owner, found) {
  const button = h("button", { type: "button", onclick: () => edit(owner) }, "Add a value");
  const shown = found.flatMap((value) => [h("dt", {}, value.name), h("dd", {}, ...entry(owner, value))]);
  return [found.length > 0 && h("dl", { class: "pairs" }, shown), button];
}

/** @param {Owner} owner @param {any} value */
function entry(owner, value) {
  const { name, json, data = "", version } = value;
  const remove = () =>
    ask({
      title: `Delete ${name}`,
      body: [h("p", {}, "This deletes the value for good.")],
      action: "Delete",
      isDangerous: true,
      submit: () => change(owner, { delete: [name], expectedVersions: { [name]: version } }),
    });
  const button = (/** @type {string} */ label, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", class: "link", "aria-label": `${label} ${name}`, onclick }, label);
  if (json === undefined) return [`${count(atob(data).length)} bytes `, button("Delete", remove)];
  return [h("pre", {}, indented(json)), button("Edit", () => edit(owner, value)), button("Delete", remove)];
}

/** Asks for a value; a new one has no name yet. @param {Owner} owner @param {any} [value] */
function edit(owner, value) {
  const name = h("input", { name: "name", required: true, readonly: Boolean(value), value: value?.name ?? "" });
  const json = h("textarea", { name: "json", rows: 4, class: "code", required: true }, indented(value?.json ?? ""));
  ask({
    title: value ? `Edit ${value.name}` : "Add a value",
    body: [field("Name", name), field("Value", json, 'JSON, such as "text", 7, true, [1, 2] or {"step": 3}')],
    action: "Save",
    submit: (form) => {
      const set = { name: given(form, "name"), json: given(form, "json") };
      // A value that somebody else has added or changed meanwhile is not overwritten.
      return change(owner, { set: [set], expectedVersions: { [set.name]: value?.version ?? "0" } });
    },
  });
}

/** @param {Owner} owner @param {object} made */
async function change({ address, changed }, made) {
  await call("ConversationService/UpdateState", { ...address, change: made });
  changed();
}
