/** What an adapter for another framework needs besides the client. The adapters of this package use the same. */
export { orNone } from "./errors.js";
export { fold, unfold } from "./fold.js";
export { fit } from "./ids.js";
export { budgetPolicy } from "./limits.js";
export { originals } from "./originals.js";
