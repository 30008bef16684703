/**
 * Thrown when a run on several processes or machines cannot start, continue or produce a result.
 */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  /** `no-result`: the run ended without any result. `set-up`: the user has to change the setup. */
  readonly kind: 'set-up' | 'no-result';

  /**
   * Creates the error.
   * @param sentence a full sentence for the user, with the remedy
   */
  constructor(sentence: string, kind: 'set-up' | 'no-result' = 'set-up', cause?: unknown) {
    super(sentence, { cause });
    this.kind = kind;
  }
}
