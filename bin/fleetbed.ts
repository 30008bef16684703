#!/usr/bin/env node
/**
 * The command line: runs the command, and turns what it returns or throws into an exit code.
 */
import { CommanderError } from 'commander';
import { printableText } from '../fixtures/printable.ts';
import { dropEmptyVariables } from './options/secret-option.ts';
import { CommandError, describeError } from './output/command-error.ts';
import { exitCodes } from './output/exit-codes.ts';
import { programFor } from './program.ts';

/** Commander has already printed its own message; help and version are not errors. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  const { exitCode, sentence } = describeError(error);
  process.stderr.write(`fleetbed: ${printableText(sentence)}\n`);
  const isDebugging = process.env.FLEETBED_DEBUG === '1';
  if (isDebugging && error instanceof Error && !(error instanceof CommandError)) {
    process.stderr.write(`${printableText(error.stack ?? '')}\n`);
  }
  return exitCode;
}

/** A reader that goes away, as `head` does, ends the run quietly. */
process.stdout.on('error', () => process.exit(process.exitCode ?? exitCodes.outputClosed));
/** Progress that nobody reads any more is no reason to end. */
process.stderr.on('error', () => undefined);
process.on('uncaughtException', (error) => process.exit(exitCodeOf(error)));

dropEmptyVariables(process.env);
try {
  const program = await programFor(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
// Open handles of a command must not keep the process alive; its output is written first.
process.stdout.write('', () => process.exit());
