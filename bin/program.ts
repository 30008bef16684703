/** Every command of the program. Each lives in its own file and is loaded when it is asked for. */
import { Command } from 'commander';
import { printableText } from '../fixtures/printable.ts';
import { addExamples } from './examples.ts';
import { requireSecrets } from './secret-option.ts';
import { packageVersion } from './version.ts';

/** What a command's file exports: adds its options and what it does; the action sets the exit code. */
type Configure = (command: Command) => void;

interface CommandRow {
  /** Heading in the help of the program. */
  readonly group: string;
  readonly summary: string;
  /** Not for people. */
  readonly hidden?: true;
  readonly load: () => Promise<{ readonly configure: Configure }>;
}

/** Every command by its name. */
export const commands: Readonly<Record<string, CommandRow>> = {
  serve: {
    group: 'Run:',
    summary: 'run the reference server until Ctrl-C',
    load: () => import('./serve.ts'),
  },
  simulate: {
    group: 'Run:',
    summary: 'simulate a fleet of devices',
    load: () => import('./simulate.ts'),
  },
  conform: {
    group: 'Run:',
    summary: 'test a server against the contract',
    load: () => import('./conform.ts'),
  },
  demo: {
    group: 'Run:',
    summary: 'run server, fleet and conformance suite together',
    load: () => import('./demo.ts'),
  },
  devices: {
    group: 'Manage devices:',
    summary: 'list the devices of a server',
    load: () => import('./devices.ts'),
  },
  accept: {
    group: 'Manage devices:',
    summary: 'accept devices that are pending',
    load: () => import('./accept.ts'),
  },
  deploy: {
    group: 'Manage devices:',
    summary: 'deploy a file to devices',
    load: () => import('./deploy.ts'),
  },
  terminal: {
    group: 'Manage devices:',
    summary: 'open a shell on a connected device',
    load: () => import('./terminal.ts'),
  },
  explain: {
    group: 'Find out why:',
    summary: 'explain why a request was refused, or a device gets no update',
    load: () => import('./explain.ts'),
  },
  journal: {
    group: 'Find out why:',
    summary: 'show or follow the requests and answers of a running server',
    load: () => import('./journal.ts'),
  },
  doctor: {
    group: 'Find out why:',
    summary: 'diagnose a signature, or this machine',
    load: () => import('./doctor.ts'),
  },
  clock: {
    group: 'Control a running server:',
    summary: 'show and change its time',
    load: () => import('./clock.ts'),
  },
  faults: {
    group: 'Control a running server:',
    summary: 'plan faults, and check that they happened',
    load: () => import('./faults.ts'),
  },
  reset: {
    group: 'Control a running server:',
    summary: 'put the server, or one device, back to its start state',
    load: () => import('./reset.ts'),
  },
  snapshot: {
    group: 'Control a running server:',
    summary: 'save and restore its state',
    load: () => import('./snapshot.ts'),
  },
  world: {
    group: 'Control a running server:',
    summary: 'write, check and load start states',
    load: () => import('./world.ts'),
  },
  await: {
    group: 'Control a running server:',
    summary: 'wait until it has received certain requests',
    load: () => import('./await.ts'),
  },
  assert: {
    group: 'Control a running server:',
    summary: 'assert what a device has done',
    load: () => import('./assert.ts'),
  },
  cleanup: {
    group: 'Files and results:',
    summary: 'remove what runs of simulate and conform left on a server',
    load: () => import('./cleanup.ts'),
  },
  report: {
    group: 'Files and results:',
    summary: 'render, merge and compare results of simulate',
    load: () => import('./report.ts'),
  },
  calendar: {
    group: 'Files and results:',
    summary: 'show what is deprecated until when, and who still uses it',
    load: () => import('./calendar.ts'),
  },
  state: {
    group: 'Files and results:',
    summary: 'export a data folder to one SQLite file, and import it',
    load: () => import('./state.ts'),
  },
  worker: {
    group: 'Files and results:',
    summary: 'run parts of a fleet that is simulated on several machines',
    load: () => import('./worker.ts'),
  },
  'play-shard': {
    group: 'Files and results:',
    summary: 'run one part of a fleet for a parent process',
    hidden: true,
    load: () => import('./simulate/play-shard.ts'),
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
  addExamples(program, 'fleetbed demo', 'fleetbed serve --auto-accept', 'fleetbed help serve');
  for (const [name, { group, summary, load, hidden = false }] of Object.entries(commands)) {
    const command = program
      .command(name, { hidden })
      .description(summary)
      .helpGroup(group)
      .allowExcessArguments(false);
    if (words.includes(name)) (await load()).configure(command);
  }
  return program;
}
