/**
 * Every command of the program. Each has its own file, which is loaded when the command is used.
 */
import { Command } from 'commander';
import { knownNames } from '../fixtures/base/nearest.ts';
import { groupRows } from '../fixtures/base/option-row.ts';
import { printableText } from '../fixtures/base/printable.ts';
import { applyConfigFile, commonSection, readConfigFile } from './options/config-file.ts';
import type { ConfigFile } from './options/config-text.ts';
import { addExamples } from './options/examples.ts';
import { requireOwnFiles } from './options/output-files.ts';
import { requireSecrets } from './options/secret-option.ts';
import { omitProgress } from './output/output.ts';
import { packageVersion } from './output/version.ts';

/** The export of a command's file: adds the options and the action, which sets the exit code. */
type Configure = (command: Command) => void;

interface CommandRow {
  /** Heading of the command in the help of the program. */
  readonly group: string;
  readonly summary: string;
  /** True for a command that the help omits, because only fleetbed itself runs it. */
  readonly hidden?: true;
  readonly load: () => Promise<{ readonly configure: Configure }>;
}

/** The commands by name. */
export const commands: Readonly<Record<string, CommandRow>> = {
  ...groupRows('Run:', {
    serve: {
      summary: 'run the reference server until Ctrl-C',
      load: () => import('./commands/serve/serve.ts'),
    },
    'with-server': {
      summary: 'run a command against a server of its own',
      load: () => import('./commands/serve/with-server.ts'),
    },
    simulate: {
      summary: 'simulate a fleet of devices',
      load: () => import('./commands/simulate/simulate.ts'),
    },
    conform: {
      summary: 'test a server against the contract',
      load: () => import('./commands/conform/conform.ts'),
    },
    demo: {
      summary: 'run server, fleet and conformance suite together',
      load: () => import('./commands/demo/demo.ts'),
    },
  }),
  ...groupRows('Manage devices:', {
    devices: {
      summary: 'list the devices of a server',
      load: () => import('./commands/devices.ts'),
    },
    accept: {
      summary: 'accept pending devices',
      load: () => import('./commands/accept.ts'),
    },
    deploy: {
      summary: 'deploy a file to devices',
      load: () => import('./commands/deploy.ts'),
    },
    terminal: {
      summary: 'open a shell on a connected device',
      load: () => import('./commands/terminal/terminal.ts'),
    },
  }),
  ...groupRows('Find out why:', {
    explain: {
      summary: 'explain why a request was refused, or why a device gets no update',
      load: () => import('./commands/explain.ts'),
    },
    journal: {
      summary: 'show or follow the requests and responses of a running server',
      load: () => import('./commands/journal/journal.ts'),
    },
    doctor: {
      summary: 'diagnose a signature, or this machine',
      load: () => import('./commands/doctor/doctor.ts'),
    },
  }),
  ...groupRows('Control a running server:', {
    clock: {
      summary: "show and change the server's clock",
      load: () => import('./commands/clock.ts'),
    },
    faults: {
      summary: 'plan faults, and check that they fired',
      load: () => import('./commands/faults.ts'),
    },
    reset: {
      summary: 'return the server, or one device, to its start state',
      load: () => import('./commands/reset.ts'),
    },
    snapshot: {
      summary: "save and restore the server's state",
      load: () => import('./commands/snapshot.ts'),
    },
    world: {
      summary: 'write, check and load world files',
      load: () => import('./commands/world.ts'),
    },
    await: {
      summary: 'wait until the server has received certain requests',
      load: () => import('./commands/await.ts'),
    },
    assert: {
      summary: 'assert what a device has done',
      load: () => import('./commands/assert.ts'),
    },
  }),
  ...groupRows('Files and results:', {
    cleanup: {
      summary: 'remove what runs of simulate and conform left on a server',
      load: () => import('./commands/cleanup.ts'),
    },
    report: {
      summary: 'render, merge and compare results of simulate',
      load: () => import('./commands/report/report.ts'),
    },
    calendar: {
      summary: 'show what is deprecated, until when, and who still uses it',
      load: () => import('./commands/calendar.ts'),
    },
    record: {
      summary: 'record the traffic of a device through a transparent proxy',
      load: () => import('./commands/record/record.ts'),
    },
    replay: {
      summary: 'play a recorded session against a server, and compare the responses',
      load: () => import('./commands/replay/replay.ts'),
    },
    contract: {
      summary: 'write the APIs as OpenAPI, AsyncAPI, Markdown, or a collection of requests',
      load: () => import('./commands/contract.ts'),
    },
    vectors: {
      summary: 'write test vectors for firmware that has no network yet',
      load: () => import('./commands/vectors/vectors.ts'),
    },
    config: {
      summary: 'show the settings of commands, and where each is from',
      load: () => import('./commands/config.ts'),
    },
    completion: {
      summary: 'print the script that completes commands and options in a shell',
      load: () => import('./commands/completion.ts'),
    },
    complete: {
      summary: 'complete a command line for the script of a shell',
      hidden: true,
      load: async () => {
        const { configureComplete } = await import('./commands/completion.ts');
        return { configure: configureComplete };
      },
    },
    state: {
      summary: 'export a data folder to one SQLite file, and import it',
      load: () => import('./commands/state.ts'),
    },
    worker: {
      summary: 'run parts of a fleet that is simulated on several machines',
      load: () => import('./commands/worker/worker.ts'),
    },
    'run-shard': {
      summary: 'run one part of a fleet for a parent process',
      hidden: true,
      load: () => import('./commands/simulate/run-shard.ts'),
    },
  }),
};

const helpFlags: readonly string[] = ['--help', '-h'];

/**
 * Returns the program. Only the commands that `args` name are loaded with their options; for
 * `config` all are.
 */
export async function programFor(args: readonly string[]): Promise<Command> {
  const program = new Command('fleetbed')
    .description('A reference server, a fleet simulator and a conformance suite in one.')
    .version(packageVersion())
    .enablePositionalOptions()
    .exitOverride()
    .hook('preAction', (_, command) => {
      if (command.getOptionValue('quiet') === true) omitProgress();
      requireSecrets(command);
      requireOwnFiles(command);
    })
    .configureOutput({
      writeErr: (text) => process.stderr.write(printableText(text)),
      outputError: (text, write) =>
        write(withoutUserOfUrls(text.replace(/^(?:error: )?/, 'fleetbed: '))),
    });
  addExamples(program, 'fleetbed demo', 'fleetbed serve --auto-accept', 'fleetbed help serve');
  for (const [name, { group, summary, load, hidden = false }] of Object.entries(commands)) {
    const command = program
      .command(name, { hidden })
      .description(summary)
      .helpGroup(group)
      .allowExcessArguments(false);
    if (!args.includes(name) && args[0] !== 'config') continue;
    (await load()).configure(command);
    if (!hidden) addQuietOption(command);
  }
  if (!args.some((word) => helpFlags.includes(word))) readSettings(program);
  return program;
}

/**
 * Returns the arguments of a command line in the format that the program parses: `help conform judge` is
 * `conform judge --help`, and help about an unknown command is an error that suggests the nearest.
 */
export function parsedArgs(args: readonly string[]): readonly string[] {
  const [first] = args;
  const expanded = first === 'help' ? [...args.filter((word) => word !== first), '--help'] : args;
  const [name = ''] = expanded;
  const isKnown = Object.hasOwn(commands, name) || name.startsWith('-');
  return isKnown ? expanded : expanded.filter((word) => !helpFlags.includes(word));
}

/** Adds `--quiet` to a command and to its subcommands that do something themselves. */
function addQuietOption(command: Command): void {
  for (const each of command.commands) addQuietOption(each);
  if (command.commands.length > 0 && command.options.length === 0) return;
  command.option('-q, --quiet', 'print only results, warnings and errors');
}

/** Sets the options of the called command by the configuration file. */
function readSettings(program: Command): void {
  const whenCalled = (command: Command): void => {
    command.hook('preSubcommand', async (_, called) => {
      const isShown = !commands[called.name()]?.hidden && called.name() !== 'config';
      const file = isShown ? await readConfigFile() : undefined;
      if (file) {
        requireCommands(file);
        applyConfigFile(file, called);
      }
      whenCalled(called);
    });
  };
  whenCalled(program);
}

/** @throws CommandError when a section is not named by a command */
function requireCommands(file: ConfigFile): void {
  const visibleCommands = Object.keys(commands).filter((name) => !commands[name]?.hidden);
  for (const name of file.names) {
    const [first = ''] = name.split(' ');
    if (name === commonSection || visibleCommands.includes(first)) continue;
    const names = knownNames('command', name, [commonSection, ...visibleCommands]);
    throw file.wrongSection(name, `${name}: unknown command; ${names}`);
  }
}

/** Hides user and password of the URLs in an error, since the output of a pipeline keeps it. */
function withoutUserOfUrls(text: string): string {
  return text.replaceAll(/:\/\/[^/@\s']*@/g, '://(not shown)@');
}
