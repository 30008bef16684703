/** Reads a world from YAML or JSON. */
import { readYaml } from '../../fixtures/base/yaml-text.ts';
import { type World, worldShape } from './world-shape.ts';

/**
 * Thrown for an invalid world. The message has one line `name:line:column: sentence` for each
 * problem.
 */
export class WorldTextError extends Error {
  override readonly name = 'WorldTextError';
}

/**
 * Reads a world from text.
 * @param name name of the file or body, for problems
 * @throws WorldTextError
 */
export function readWorld(text: string, name: string): World {
  const parseResult = readYaml(text, worldShape);
  if ('content' in parseResult) return parseResult.content;
  const lines = parseResult.problems.map(
    ({ line, column, message }) => `${name}:${line}:${column}: ${message}`,
  );
  throw new WorldTextError(lines.join('\n'));
}
