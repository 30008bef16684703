#!/usr/bin/env node
/**
 * The command line: finds the command, runs it, and turns what it returns or throws into an exit
 * code. Each command lives in its own file and is loaded only when it is asked for.
 */
import { Command, CommanderError } from 'commander';
import { printableText } from '../fixtures/printable.ts';
import { exitCodes } from './exit-codes.ts';
import { CommandFault, reportFault } from './fault.ts';

import { packageVersion } from './version.ts';

/** What a command's file exports: adds its options and what it does; the action sets the exit code. */
type Configure = (command: Command) => void;

interface CommandRow {
  readonly summary: string;
  /** Not for people. */
  readonly hidden?: true;
  readonly load: () => Promise<{ readonly configure: Configure }>;
}

const commands: Readonly<Record<string, CommandRow>> = {
  serve: {
    summary: 'run the reference server until Ctrl-C',
    load: () => import('./serve.ts'),
  },
  simulate: {
    summary: 'run a fleet of devices against a server',
    load: () => import('./simulate.ts'),
  },
  report: {
    summary: 'render, merge and compare the results of fleets',
    load: () => import('./report.ts'),
  },
  worker: {
    summary: 'play parts of fleets that are simulated on several machines',
    load: () => import('./worker.ts'),
  },
  'play-shard': {
    summary: 'play one part of a fleet for a parent process',
    hidden: true,
    load: () => import('./simulate/play-shard.ts'),
  },
  conform: {
    summary: 'judge a server by the contract',
    load: () => import('./conform.ts'),
  },
  terminal: {
    summary: 'open a shell on a connected device',
    load: () => import('./terminal.ts'),
  },
  demo: {
    summary: 'run server, fleet and suite together, and stay up',
    load: () => import('./demo.ts'),
  },
  journal: {
    summary: 'show what a running server was asked and answered, or follow it',
    load: () => import('./journal.ts'),
  },
  await: {
    summary: 'wait until a running server has been asked something',
    load: () => import('./await.ts'),
  },
  assert: {
    summary: 'assert what a device has done, by meaning',
    load: () => import('./assert.ts'),
  },
  world: {
    summary: 'write, check and load start states',
    load: () => import('./world.ts'),
  },
  faults: {
    summary: 'plan what goes wrong on a running server, and check that it did',
    load: () => import('./faults.ts'),
  },
  calendar: {
    summary: 'show what is deprecated until when, and who still uses it',
    load: () => import('./calendar.ts'),
  },
  state: {
    summary: 'save a data folder to one SQLite file, and make one of it',
    load: () => import('./state.ts'),
  },
  explain: {
    summary: 'tell why a request was refused, and what goes through',
    load: () => import('./explain.ts'),
  },
  doctor: {
    summary: 'tell what is wrong with a signature, or with this machine',
    load: () => import('./doctor.ts'),
  },
};

async function programFor(words: readonly string[]): Promise<Command> {
  const program = new Command('fleetbed')
    .description('A reference server, a fleet simulator and a conformance suite in one.')
    .version(packageVersion())
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(printableText(text)) });
  for (const [name, { summary, load, hidden = false }] of Object.entries(commands)) {
    const command = program
      .command(name, { hidden })
      .description(summary)
      .allowExcessArguments(false);
    if (words.includes(name)) (await load()).configure(command);
  }
  return program;
}

/** Commander has printed its own message already; help and version are no faults. */
function exitCodeOf(fault: unknown): number {
  if (fault instanceof CommanderError) return fault.exitCode === 0 ? 0 : exitCodes.usage;
  const { exitCode, sentence } = reportFault(fault);
  process.stderr.write(`fleetbed: ${printableText(sentence)}\n`);
  const isDebugging = process.env.FLEETBED_DEBUG === '1';
  if (isDebugging && fault instanceof Error && !(fault instanceof CommandFault)) {
    process.stderr.write(`${printableText(fault.stack ?? '')}\n`);
  }
  return exitCode;
}

/** A reader that goes away, as `head` does, ends the run quietly. */
process.stdout.on('error', () => process.exit(process.exitCode ?? exitCodes.undecided));
process.on('uncaughtException', (fault) => process.exit(exitCodeOf(fault)));

try {
  const program = await programFor(process.argv.slice(2));
  await program.parseAsync();
} catch (fault) {
  process.exitCode = exitCodeOf(fault);
}
// What a command has left open must not keep the process; its output goes out first.
process.stdout.write('', () => process.exit());
