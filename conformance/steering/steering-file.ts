/** Files that people write to steer a target: small, in YAML or JSON, and checked before use. */
import * as v from 'valibot';
import { parse } from 'yaml';

const FILE_MAX_CHARACTERS = 100_000;
const ALIASES_MAX = 10;

/** A file cannot be used; the message says where and why. */
export class SteeringFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SteeringFileError';
  }
}

/** The checked content of a text. @throws SteeringFileError */
export function readSteeringFile<const Shape extends v.GenericSchema>(
  text: string,
  shape: Shape,
): v.InferOutput<Shape> {
  if (text.length > FILE_MAX_CHARACTERS) {
    throw new SteeringFileError(`it has more than ${FILE_MAX_CHARACTERS} characters`);
  }
  const checked = v.safeParse(shape, parsed(text));
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  const place = v.getDotPath(issue);
  throw new SteeringFileError(`${place === null ? '' : `${place}: `}${issue.message}`);
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: ALIASES_MAX });
  } catch (fault) {
    throw new SteeringFileError(fault instanceof Error ? fault.message : String(fault), fault);
  }
}
