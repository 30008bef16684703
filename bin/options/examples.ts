/** Adds examples below the help of a command. A test parses each example. */
import type { Command } from 'commander';

/**
 * Adds whole command lines below the help, under "Examples:", as they run in a clone: with `npx`.
 */
export function addExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => `  ${addNpx(line)}\n`).join('')}`,
  );
}

/** Adds `npx` to the commands of a line; a comment may name one after a colon. */
function addNpx(line: string): string {
  const start = line.startsWith('#')
    ? /(?<=: )fleetbed (?=[a-z])/g
    : /(?<![\w/.-])fleetbed (?=[a-z])/g;
  return line.replace(start, 'npx fleetbed ');
}
