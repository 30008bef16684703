/** A request of a device for a deployment. */
export interface Poll {
  /** The id of the operation. */
  readonly operation: string;
  /** The target of a GET, the body of a POST, a byte a character; absent when that was long. */
  readonly said: string | undefined;
}

/** The last request of a device for a deployment, as far as an explanation needs it. */
export interface LastPoll extends Poll {
  atMs: number;
  /** The status of the answer; 0 when the connection was cut instead. */
  status: number;
  /** Present when it was refused. */
  refused: { readonly error: string; readonly requestId: string } | undefined;
  /** The last one with an answer of success: itself, or one before it. */
  answered: Poll | undefined;
}
