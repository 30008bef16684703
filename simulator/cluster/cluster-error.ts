/** A run on several processes or machines that cannot begin, go on or give a result. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
  /** `no-result`: nothing is known of the run; else something has to be set up otherwise. */
  readonly kind: 'set-up' | 'no-result';

  /** @param sentence a whole sentence for people, with the way out */
  constructor(sentence: string, kind: 'set-up' | 'no-result' = 'set-up', cause?: unknown) {
    super(sentence, { cause });
    this.kind = kind;
  }
}
