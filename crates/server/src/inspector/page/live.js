// What happens on the server, as it happens.

import { CallError, stream } from "./calls.js";

/** The calls that remove a conversation; an event of any other change has a revision. */
const REMOVALS = ["DELETE_CONVERSATION", "EXPIRE_CONVERSATION", "RETIRE_CONVERSATION", "DELETE_RECIPIENT"];
const PAUSES = [500, 1_000, 2_000, 5_000, 10_000];

export const operation = (event) => event.operation.replace("OPERATION_", "");
export const removes = (event) => REMOVALS.includes(operation(event));
export const changes = (event) => event.revision !== undefined || removes(event);

/**
 * Follows the events of the namespace: dispatches `event` for each, `gap` when some are missing, and `state` when the
 * connection begins or breaks.
 */
class Live extends EventTarget {
  /** @type {"connecting" | "live" | "away"} */
  state = "connecting";
  /** Why it is away. */
  reason = "";
  #cursor = "";
  #stop = new AbortController();

  start() {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#cursor = "";
    void this.#follow(this.#stop.signal);
  }

  stop() {
    this.#stop.abort();
  }

  /** @param {AbortSignal} signal */
  async #follow(signal) {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        const request = this.#cursor ? { afterEvent: this.#cursor } : {};
        for await (const message of stream("TraceService/WatchEvents", [request], signal)) {
          attempt = 0;
          this.#heed(message);
        }
      } catch (error) {
        if (signal.aborted) return;
        const told = error instanceof CallError ? error : new CallError({ message: String(error) });
        if (told.code === "out_of_range") this.#cursor = "";
        this.#become("away", told.message);
        if (["unauthenticated", "permission_denied"].includes(told.code)) return;
      }
      await new Promise((wake) => setTimeout(wake, PAUSES[Math.min(attempt, PAUSES.length - 1)]));
    }
  }

  #heed({ started, missed, event }) {
    if (started) {
      const isGap = !this.#cursor && this.state === "away";
      this.#cursor = started.eventId;
      this.#become("live");
      if (isGap) this.dispatchEvent(new Event("gap"));
    } else if (missed) {
      this.#cursor = missed.lastEventId;
      this.dispatchEvent(new Event("gap"));
    } else if (event) {
      this.#cursor = event.eventId;
      this.dispatchEvent(new CustomEvent("event", { detail: event }));
    }
  }

  /**
   * @param {"live" | "away"} state
   * @param {string} [reason]
   */
  #become(state, reason = "") {
    this.state = state;
    this.reason = reason;
    this.dispatchEvent(new Event("state"));
  }
}

export const live = new Live();
