/** Reads a world from YAML or JSON. */
import { readYaml } from '../../fixtures/yaml-text.ts';
import { type World, worldShape } from './world-shape.ts';

/** An invalid world; a line `name:line:column: sentence` for each fault. */
export class WorldTextError extends Error {
  override readonly name = 'WorldTextError';
}

/**
 * The world in a text.
 * @param name of the file or the body, for the faults
 * @throws WorldTextError
 */
export function readWorld(text: string, name: string): World {
  const read = readYaml(text, worldShape);
  if ('content' in read) return read.content;
  const lines = read.problems.map(
    ({ line, column, message }) => `${name}:${line}:${column}: ${message}`,
  );
  throw new WorldTextError(lines.join('\n'));
}
