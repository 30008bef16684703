/** Reads a world from YAML or JSON. */
import { readYaml } from '../../fixtures/yaml-text.ts';
import { type World, worldShape } from './world-shape.ts';

/** An invalid world; a line `name:line:column: sentence` for each fault. */
export class WorldTextFault extends Error {
  override readonly name = 'WorldTextFault';
}

/**
 * The world in a text.
 * @param name of the file or the body, for the faults
 * @throws WorldTextFault
 */
export function readWorld(text: string, name: string): World {
  const read = readYaml(text, worldShape);
  if ('content' in read) return read.content;
  const lines = read.faults.map(
    ({ line, column, message }) => `${name}:${line}:${column}: ${message}`,
  );
  throw new WorldTextFault(lines.join('\n'));
}
