// The page: the list of conversations, the one that is shown, and who is signed in.

import { create, upload } from "./actions.js";
import { call, credential, refusals, signIn, signOut } from "./calls.js";
import { Conversation } from "./conversation.js";
import { given } from "./dialogs.js";
import { field, fill, h, iconButton, set } from "./element.js";
import { List } from "./list.js";
import { live } from "./live.js";
import { phone } from "./narrow.js";
import { link, route } from "./route.js";
import { View } from "./view.js";

const THEMES = ["light dark", "light", "dark"];
/** How long to wait for the first event stream before reading without it, in milliseconds. */
const PATIENCE = 1_500;

/** @type {View | null} */
let view = null;
/** The conversation that is read or shown, which heeds events. @type {Conversation | null} */
let current = null;
/** Counts what was asked to be shown, so that only the last of it is. */
let asked = 0;

const list = new List({ create, upload }, listed);
const stage = h("div", { class: "stage" });
const page = h("div", { class: "columns" }, list.element, stage);
const state = h("span", { class: "connection", role: "status" });
const out = h("button", { type: "button", onclick: () => (signOut(), location.reload()) }, "Sign out");
const bar = h(
  "header",
  { class: "bar" },
  h("a", { href: "#/", class: "brand" }, h("img", { src: "/icon.svg", alt: "", width: 22, height: 22 }), "utterd"),
  h("span", { class: "quiet namespace" }),
  state,
  iconButton("sun", "Switch between light, dark and system colours", changeTheme),
  out,
);

live.addEventListener("state", () => {
  state.className = `connection ${live.state}`;
  const told = { live: "live", connecting: "connecting", away: "not live" }[live.state];
  fill(state, h("span", { class: "dot" }), told);
  set(state, "title", live.reason || "Changes are shown as they happen");
});
live.addEventListener("event", (event) => current?.heed(/** @type {CustomEvent} */ (event).detail));
live.addEventListener("gap", () => current?.reload());
refusals.addEventListener("refused", (event) => askForCredential(/** @type {CustomEvent} */ (event).detail.message));
window.addEventListener("hashchange", () => void show());

/** Shows the newest conversation as soon as there is one, if the address names none. */
function listed() {
  const isBlank = stage.childElementCount === 0;
  if (!view && opensNewest() && (list.newest || isBlank)) void show();
}

/** Whether the address names no conversation. `#/` names the list, which a phone shows alone. */
const opensNewest = () => !route().conversation && !(phone.matches && location.hash);

/** Shows the conversation that the address names, or the newest. */
async function show() {
  if (opensNewest() && list.newest) history.replaceState(null, "", link(list.newest));
  const { conversation: id } = route();
  document.body.classList.toggle("has-conversation", id !== "");
  list.mark();
  const number = (asked += 1);
  if (view && view.conversation.id === id) {
    current = view.conversation;
    return view.follow();
  }
  if (!id) return replace(null, welcome());
  const conversation = new Conversation(id);
  current = conversation;
  try {
    await conversation.load();
  } catch (error) {
    if (number === asked) replace(null, missing(/** @type {Error} */ (error).message));
    return;
  }
  if (number !== asked) return;
  const next = new View(conversation, { showRecipient: (recipient) => list.of(recipient) });
  conversation.addEventListener("change", (event) => next.update(/** @type {CustomEvent} */ (event).detail));
  conversation.addEventListener(
    "gone",
    () => view === next && replace(null, missing("This conversation was deleted.")),
  );
  replace(next, next.main, next.panel);
  next.open();
}

/**
 * @param {View | null} next
 * @param {...HTMLElement} shown
 */
function replace(next, ...shown) {
  view?.close();
  view = next;
  current = next?.conversation ?? null;
  if (!next) document.title = "utterd inspector";
  fill(stage, ...shown);
}

function welcome() {
  return h(
    "main",
    { id: "main", class: "welcome" },
    h("h1", {}, "utterd inspector"),
    h("p", { class: "quiet" }, "There is no conversation to show."),
    h("button", { type: "button", onclick: create }, "New conversation…"),
  );
}

/** @param {string} message */
function missing(message) {
  return h(
    "main",
    { id: "main", class: "welcome" },
    h("h1", {}, "Nothing to show"),
    h("p", {}, message),
    h("a", { href: "#/" }, "All conversations"),
  );
}

/** @param {string} message why one is needed */
function askForCredential(message) {
  live.stop();
  view?.close();
  view = current = null;
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    signIn({ token: given(form, "token"), namespace: given(form, "namespace") });
    await start();
  };
  const token = h("input", { name: "token", type: "password", required: true, autocomplete: "off" });
  fill(
    document.body,
    h(
      "main",
      { class: "sign-in" },
      h(
        "form",
        { onsubmit: submit },
        h("h1", {}, h("img", { src: "/icon.svg", alt: "", width: 28, height: 28 }), "utterd"),
        h("p", { class: "quiet", role: "alert" }, credential.token ? message : "This server requires a credential."),
        field("Token", token, "The browser keeps it until you close this tab."),
        field(
          "Namespace",
          h("input", { name: "namespace", placeholder: "the token's own" }),
          "Only an admin can choose another namespace.",
        ),
        h("button", { class: "primary" }, "Sign in"),
      ),
    ),
  );
  token.focus();
}

function changeTheme() {
  const { style } = document.documentElement;
  const next = THEMES[(THEMES.indexOf(style.colorScheme || THEMES[0]) + 1) % THEMES.length];
  style.colorScheme = next;
  localStorage.setItem("utterd-theme", next);
}

/** Reads the list with the credential that there is, and shows the page. */
async function start() {
  try {
    await call("ConversationService/ListConversations", { allRecipients: true, pageSize: 1 });
  } catch (error) {
    if (/** @type {any} */ (error).code === "unauthenticated") return;
  }
  out.hidden = !credential.token;
  fill(/** @type {Element} */ (bar.querySelector(".namespace")), credential.namespace);
  fill(document.body, h("a", { href: "#main", class: "skip", onclick: skip }, "Skip to the conversation"), bar, page);
  live.start();
  // What happens while the list is read is not missed if the events come first.
  await Promise.race([
    new Promise((go) => live.addEventListener("state", go, { once: true })),
    new Promise((go) => setTimeout(go, PATIENCE)),
  ]);
  // If the address names no conversation, the list tells which one is the newest.
  await Promise.all([list.read(), opensNewest() || show()]);
}

/** The address's part after # is ours, so a link within the page would be lost. @param {Event} event */
function skip(event) {
  event.preventDefault();
  const target = document.querySelector("#main h1");
  if (target instanceof HTMLElement) {
    target.tabIndex = -1;
    target.focus();
  }
}

document.documentElement.style.colorScheme = localStorage.getItem("utterd-theme") ?? THEMES[0];
void start();
