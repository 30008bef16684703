#!/usr/bin/env node
/**
 * The entry point of the command line: runs the command, and converts its result or error to an
 * exit code.
 */
import { CommanderError } from 'commander';
import { printableText } from '../fixtures/base/printable.ts';
import { dropEmptyVariables } from './options/secret-option.ts';
import { CommandError, describeError } from './output/command-error.ts';
import { exitCodes } from './output/exit-codes.ts';
import { parsedArgs, programFor } from './program.ts';

/**
 * Returns the exit code of an error, and prints its sentence. Commander has already printed its own
 * message; help and version are not errors.
 */
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

/** Exits quietly when the reader of standard output goes away, as `head` does. */
process.stdout.on('error', () => process.exit(process.exitCode ?? exitCodes.outputClosed));
/** Ignores a closed standard error, because nobody reads the progress then. */
process.stderr.on('error', () => undefined);
process.on('uncaughtException', (error) => process.exit(exitCodeOf(error)));

dropEmptyVariables(process.env);
try {
  const args = parsedArgs(process.argv.slice(2));
  const program = await programFor(args);
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  process.exitCode = exitCodeOf(error);
}
// Exits after the output is written, even if the command left handles open.
process.stdout.write('', () => process.exit());
