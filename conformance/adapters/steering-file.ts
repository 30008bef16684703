/** Files that people write to steer a target: small, in YAML or JSON, and checked before use. */
import type * as v from 'valibot';
import { readYaml } from '../../fixtures/yaml-text.ts';

const FILE_MAX_CHARACTERS = 100_000;

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
  const read = readYaml(text, shape);
  if ('content' in read) return read.content;
  const [fault] = read.faults;
  throw new SteeringFileError(`line ${fault?.line}: ${fault?.message}`);
}
