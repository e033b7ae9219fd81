// Forgetting: the page shows the utterances that an instruction selects before they are forgotten.

import { call } from "./calls.js";
import { ask, given, tell } from "./dialogs.js";
import { field, fill, h, select } from "./element.js";
import { inWords } from "./fields.js";
import { counted, named, span, roleName } from "./words.js";

const PAUSE = 200;
const EXAMPLES = ["last:2", "turn:3", "speaker:tool", "about:Paris", "forget the last three messages"];

/**
 * Asks what to forget, and shows it meanwhile.
 * @param {import("./conversation.js").Conversation} conversation
 * @param {{instructions?: string, light: (ranges: any[]) => void, goTo: (sequence: number) => void}} options
 */
export function forget(conversation, { instructions = "", light, goTo }) {
  let timer = 0;
  let asked = 0;
  const input = h("input", {
    name: "instructions",
    required: true,
    autocomplete: "off",
    value: instructions,
    placeholder: "last:2, or “forget the last three messages”",
    oninput: () => {
      clearTimeout(timer);
      timer = window.setTimeout(preview, PAUSE);
    },
  });
  const mode = select(
    [
      ["FORGET_MODE_SOFT", "softly: you can restore it"],
      ["FORGET_MODE_HARD", "for good, everywhere"],
    ],
    {
      name: "mode",
      onchange: () => preview(),
    },
  );
  const shown = h("div", { class: "preview", role: "status", "aria-live": "polite" });
  const examples = EXAMPLES.map((it) =>
    h("button", { type: "button", class: "chip", onclick: () => ((input.value = it), preview()) }, it),
  );

  async function preview() {
    const number = (asked += 1);
    if (!input.value.trim()) return show(null);
    const request = { conversationId: conversation.id, instructions: input.value, mode: mode.value, dryRun: true };
    try {
      const found = await call("MemoryService/Forget", request);
      if (number === asked) show(found);
    } catch (error) {
      if (number !== asked) return;
      light([]);
      fill(shown, h("p", { class: "error" }, /** @type {Error} */ (error).message));
    }
  }

  function show(found) {
    const forgotten = found?.forgotten ?? [];
    light(forgotten.map(({ sequence }) => ({ first: sequence, last: sequence })));
    if (forgotten.length > 0) goTo(Number(forgotten[0].sequence));
    if (!found)
      return fill(
        shown,
        h("p", { class: "quiet" }, "The selected utterances appear here, and are marked in the conversation."),
      );
    fill(
      shown,
      h(
        "p",
        {},
        h("b", {}, `Forgets ${counted(forgotten.length, "utterance")}`),
        found.understoodAs && [" (", h("code", {}, found.understoodAs), ")"],
      ),
      h("p", { class: "refs" }, forgotten.slice(0, 60).map(reference), forgotten.length > 60 && "…"),
      Number(found.rebuiltSegments ?? 0) > 0 &&
        h(
          "p",
          { class: "quiet" },
          `The server will write ${counted(found.rebuiltSegments, "segment")} of the summary again.`,
        ),
      (found.warnings ?? []).map(({ text }) => h("p", { class: "warning" }, inWords(text))),
      (found.stillSummarised ?? []).length > 0 &&
        h(
          "p",
          { class: "warning" },
          `The summary still covers ${found.stillSummarised.map(span).join(", ")}. Only forgetting for good removes that.`,
        ),
    );
  }

  const dialog = ask({
    title: "Forget",
    body: [field("What", input), h("p", { class: "chips" }, "for example ", examples), field("How", mode), shown],
    action: "Forget",
    isDangerous: true,
    submit: async (form) => {
      const request = {
        instructions: given(form, "instructions"),
        mode: given(form, "mode"),
        requestId: crypto.randomUUID?.(),
      };
      const { forgotten = [] } = await conversation.change("MemoryService/Forget", request);
      tell(`Forgot ${counted(forgotten.length, "utterance")}`);
    },
  });
  dialog.classList.add("beside");
  dialog.addEventListener("close", () => light([]));
  void preview();
}

const reference = ({ sequence, role }) =>
  h("span", { class: `ref ${roleName(role)}` }, `#${sequence} ${named(role, "ROLE")}`);
