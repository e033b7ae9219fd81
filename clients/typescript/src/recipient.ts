/** A recipient, and the values that are its own. */
import { StateScope } from "./_proto/utterd/v1/conversation_service_pb.js";
import type { Calls } from "./calls.js";
import type { CallOptions, ChangeOptions, StateChange, StateValue } from "./model.js";
import { changeState, readState } from "./state.js";

/** Whose conversations are. It has values of its own, which stay when its conversations go. */
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

  /** The recipient's values, by name: those of these names, or all; as they were at one moment. */
  async state<V = any>(
    names: readonly string[] = [],
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
