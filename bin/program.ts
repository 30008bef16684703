/** Every command of the program. Each lives in its own file and is loaded when it is asked for. */
import { Command } from 'commander';
import { printableText } from '../fixtures/printable.ts';
import { requireSecrets } from './secret-option.ts';
import { packageVersion } from './version.ts';

/** What a command's file exports: adds its options and what it does; the action sets the exit code. */
type Configure = (command: Command) => void;

interface CommandRow {
  readonly summary: string;
  /** Not for people. */
  readonly hidden?: true;
  readonly load: () => Promise<{ readonly configure: Configure }>;
}

/** Every command by its name. */
export const commands: Readonly<Record<string, CommandRow>> = {
  serve: {
    summary: 'run the reference server until Ctrl-C',
    load: () => import('./serve.ts'),
  },
  simulate: {
    summary: 'simulate a fleet of devices',
    load: () => import('./simulate.ts'),
  },
  report: {
    summary: 'render, merge and compare results of simulate',
    load: () => import('./report.ts'),
  },
  worker: {
    summary: 'run parts of a fleet that is simulated on several machines',
    load: () => import('./worker.ts'),
  },
  'play-shard': {
    summary: 'run one part of a fleet for a parent process',
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
    summary: 'run server, fleet and conformance suite together',
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

/** The program with the options of those commands that the words name. */
export async function programFor(words: readonly string[]): Promise<Command> {
  const program = new Command('fleetbed')
    .description('A reference server, a fleet simulator and a conformance suite in one.')
    .version(packageVersion())
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_, command) => requireSecrets(command))
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
