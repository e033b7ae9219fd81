// The forks of a conversation as a tree, from the conversation that has no parent.

import { CallError, call } from "../calls.js";
import { fill, h } from "../element.js";
import { link } from "../route.js";
import { counted } from "../words.js";

/** The most conversations that are read for a tree. */
const MOST = 200;

export class ForksPanel {
  #asked = 0;

  /**
   * @param {import("../conversation.js").Conversation} conversation
   * @param {{goTo: (sequence: number) => void, fork: (sequence?: number) => void}} shown
   */
  constructor(conversation, { fork }) {
    this.conversation = conversation;
    this.tree = h("div", { class: "tree" });
    const button = h("button", { type: "button", onclick: () => fork() }, "Fork…");
    this.element = h("div", { class: "panel-body" }, this.tree, button);
  }

  open() {
    this.update();
  }

  close() {}

  async update() {
    const number = (this.#asked += 1);
    try {
      const tree = await new Reader(this.conversation).tree();
      if (number === this.#asked) fill(this.tree, h("ul", {}, this.#branch(tree)));
    } catch (error) {
      if (number === this.#asked) fill(this.tree, h("p", { class: "error" }, /** @type {Error} */ (error).message));
    }
  }

  /** @param {Node} node */
  #branch({ id, about, at, forks }) {
    const isHere = id === this.conversation.id;
    const told = about ? `${about.title || id}` : `${id} (removed)`;
    return h(
      "li",
      {},
      about
        ? h("a", { href: link(id, { tab: "forks" }), "aria-current": isHere && "true" }, told)
        : h("span", { class: "quiet" }, told),
      h(
        "span",
        { class: "quiet" },
        at !== null && `shares #1 to #${at} · `,
        about && `${counted(about.utteranceCount, "utterance")} · ${about.recipientId}`,
      ),
      forks.length > 0 &&
        h(
          "ul",
          {},
          forks.map((/** @type {Node} */ fork) => this.#branch(fork)),
        ),
    );
  }
}

/** @typedef {{id: string, about: any, at: number | null, forks: Node[]}} Node */

/** Reads the conversations of a tree, each once. */
class Reader {
  #read = 0;

  /** @param {import("../conversation.js").Conversation} conversation */
  constructor(conversation) {
    this.conversation = conversation;
  }

  /** @returns {Promise<Node>} */
  async tree() {
    let root = this.conversation.about;
    while (root.forkedFrom) {
      const parent = await this.#about(root.forkedFrom.conversationId);
      if (!parent)
        return { id: root.forkedFrom.conversationId, about: null, at: null, forks: [await this.#node(root)] };
      root = parent;
    }
    return this.#node(root);
  }

  /** @param {any} about @returns {Promise<Node>} */
  async #node(about) {
    const { conversationId: id, forkedFrom } = about;
    const listed = id === this.conversation.id ? this.conversation.about.forks : about.forks;
    const forks = [];
    for (const { conversationId } of listed ?? []) {
      const fork = await this.#about(conversationId);
      if (fork) forks.push(await this.#node(fork));
    }
    return { id, about, at: forkedFrom ? Number(forkedFrom.sequence ?? 0) : null, forks };
  }

  /** @param {string} conversationId */
  async #about(conversationId) {
    if ((this.#read += 1) > MOST) return null;
    try {
      return (await call("ConversationService/GetConversation", { conversationId })).conversation;
    } catch (error) {
      if (error instanceof CallError && error.code === "not_found") return null;
      throw error;
    }
  }
}
