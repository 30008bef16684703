/** The doctor's diagnosis: the cause that explains a wrong signature or an unusable key. */

/** A cause for which a signature or key is invalid, in texts. Each row of a table of causes has these members. */
export interface CauseText {
  /** Stable name, such as `newline-not-sent`. */
  readonly id: string;
  /** A sentence that says what the client did. */
  readonly sentence: string;
  /** A sentence that says what to do instead. */
  readonly remedy: string;
}

/** The known cause that explains why a signature or key was refused. */
export interface Diagnosis {
  /** The ID of the cause, such as `newline-not-sent`. */
  readonly cause: string;
  readonly sentence: string;
  readonly remedy: string;
  /** The variant of the cause, such as the device that the key belongs to. */
  readonly detail?: string;
  /** IDs of further causes, such as a PSS signature written in hexadecimal. */
  readonly also?: readonly string[];
}

/** Returns the diagnosis for a row of a table. */
export function diagnosisOf(
  { id, sentence, remedy }: CauseText,
  { detail, also = [] }: { detail?: string | undefined; also?: readonly string[] } = {},
): Diagnosis {
  return {
    cause: id,
    sentence,
    remedy,
    ...(detail !== undefined && { detail }),
    ...(also.length > 0 && { also }),
  };
}
