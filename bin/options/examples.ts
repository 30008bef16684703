/** Adds examples below the help of a command. A test parses each example. */
import type { Command } from 'commander';

/** Adds whole command lines below the help, under "Examples:". */
export function addExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText(
    'after',
    `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`,
  );
}
