/** That a target, or the way it is steered, turned out to lack what a case needs. */

/** A case met something that is not offered, so it is skipped with the name of what is missing. */
export class MissingCapability extends Error {
  /** Such as `operator/configure`: the step that no hook carries out. */
  readonly capability: string;

  constructor(capability: string, message: string) {
    super(message);
    this.name = 'MissingCapability';
    this.capability = capability;
  }
}
