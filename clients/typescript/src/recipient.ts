/** A recipient, and its own values. */
import { StateScope } from "./_proto/utterd/v1/conversation_service_pb.js";
import type { Calls } from "./calls.js";
import type { CallOptions, ChangeOptions, StateChange, StateValue } from "./model.js";
import { changeState, readState } from "./state.js";

/** A recipient of conversations. It has values of its own, which outlive its conversations. */
export class Recipient {
  private readonly at: { readonly recipientId: string; readonly scope: StateScope };

  /** @internal */
  constructor(
    private readonly calls: Calls,
    /** Its id. */
    readonly id: string,
  ) {
    this.at = { recipientId: id, scope: StateScope.RECIPIENT };
  }

  /** The recipient's values, by name: those with these names, or all, read at one moment. */
  async state<V = any>(
    names: string | readonly string[] = [],
    options: CallOptions = {},
  ): Promise<Record<string, StateValue<V>>> {
    return readState(this.calls, this.at, names, options);
  }

  /**
   * Sets and deletes values of the recipient, all or none. Returns their revision after the change, which is the
   * version of each value that was set.
   */
  async updateState(change: StateChange, options: ChangeOptions = {}): Promise<number> {
    return changeState(this.calls, this.at, change, options);
  }
}
