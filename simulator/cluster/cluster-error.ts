/** Thrown when a run on several processes or machines cannot start, continue or give a result. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  /** `no-result`: nothing is known of the run; otherwise the setup has to change. */
  readonly kind: 'set-up' | 'no-result';

  /** @param sentence a full sentence for the user, with the remedy */
  constructor(sentence: string, kind: 'set-up' | 'no-result' = 'set-up', cause?: unknown) {
    super(sentence, { cause });
    this.kind = kind;
  }
}
