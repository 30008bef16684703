/** Files that users write to control a target: small, in YAML or JSON, and validated before use. */
import type * as v from 'valibot';
import { readYaml } from '../../fixtures/base/yaml-text.ts';

const FILE_MAX_CHARACTERS = 100_000;

/** A file cannot be used; the message gives the place and the reason. */
export class ControlFileError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ControlFileError';
  }
}

/** Returns the validated content of a text. @throws ControlFileError */
export function readControlFile<const Shape extends v.GenericSchema>(
  text: string,
  shape: Shape,
): v.InferOutput<Shape> {
  if (text.length > FILE_MAX_CHARACTERS) {
    throw new ControlFileError(`it has more than ${FILE_MAX_CHARACTERS} characters`);
  }
  const document = readYaml(text, shape);
  if ('content' in document) return document.content;
  const [problem] = document.problems;
  throw new ControlFileError(`line ${problem?.line}: ${problem?.message}`);
}
