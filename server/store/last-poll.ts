/** A poll of a device for its next deployment. */
export interface Poll {
  /** ID of the operation. */
  readonly operation: string;
  /**
   * The target of a GET or the body of a POST, with one character for each byte; undefined if it
   * was too long to keep.
   */
  readonly content: string | undefined;
}

/** A device's last poll, with the facts that an explanation needs. */
export interface LastPoll extends Poll {
  atMs: number;
  /** Status of the response; 0 when the connection was cut instead. */
  status: number;
  /** The error of the refusal; undefined if the poll was not refused. */
  refused: { readonly error: string; readonly requestId: string } | undefined;
  /** The last poll that was answered successfully: this one, or an earlier one. */
  answered: Poll | undefined;
}
