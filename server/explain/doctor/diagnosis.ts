/** The doctor's diagnosis: the mistake that explains a wrong signature or an unusable key. */

/** The texts of a mistake. Each table of mistakes has a row with these members. */
export interface MistakeText {
  /** Stable name, such as `newline-not-sent`. */
  readonly id: string;
  /** A sentence that says what the client did. */
  readonly sentence: string;
  /** A sentence that says what to do instead. */
  readonly remedy: string;
}

/** The known mistake that explains why a signature or key was refused. */
export interface Diagnosis {
  /** The id of the mistake's row. */
  readonly mistake: string;
  readonly sentence: string;
  readonly remedy: string;
  /** The variant of the mistake, such as the device that the key belongs to. */
  readonly detail?: string;
  /** Ids of further mistakes, such as a PSS signature written in hexadecimal. */
  readonly also?: readonly string[];
}

/** Returns the diagnosis for a row of a table. */
export function diagnosisOf(
  { id, sentence, remedy }: MistakeText,
  { detail, also = [] }: { detail?: string | undefined; also?: readonly string[] } = {},
): Diagnosis {
  return {
    mistake: id,
    sentence,
    remedy,
    ...(detail !== undefined && { detail }),
    ...(also.length > 0 && { also }),
  };
}
