/** The error for a capability that turned out to be missing while a case was running. */

/** A case needs a capability that is missing. The case is skipped with the name as the reason. */
export class MissingCapability extends Error {
  /** The missing capability, such as `user/configure` for a step that no hook supports. */
  readonly capability: string;

  constructor(capability: string, message: string) {
    super(message);
    this.name = 'MissingCapability';
    this.capability = capability;
  }
}
