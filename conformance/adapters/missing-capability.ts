/** A target, or the way it is controlled, turned out to lack what a case needs. */

/** A case needs something that is not offered, so it is skipped, naming what is missing. */
export class MissingCapability extends Error {
  /** Such as `operator/configure`: the step that no hook supports. */
  readonly capability: string;

  constructor(capability: string, message: string) {
    super(message);
    this.name = 'MissingCapability';
    this.capability = capability;
  }
}
