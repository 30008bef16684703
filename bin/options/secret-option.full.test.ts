import type { Command, Option } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands, programFor } from '../program.ts';
import { runCommand } from '../testing/built-command.ts';
import { SecretOption } from './secret-option.ts';

const silent = { writeOut: () => undefined, writeErr: () => undefined };
/** An unknown option, which ends each subcommand after it has loaded its own options. */
const nothing = '--no-such-option';
let all: readonly { readonly path: readonly string[]; readonly option: Option }[];

beforeAll(async () => {
  const program = await programFor(Object.keys(commands));
  const subcommands = program.commands.flatMap((command) =>
    command.commands.map((subcommand) => [command.name(), subcommand.name()]),
  );
  for (const each of [program, ...withSubcommands(program)]) {
    each.exitOverride().configureOutput(silent);
  }
  for (const args of subcommands) {
    await program.parseAsync([...args, nothing], { from: 'user' }).catch(() => undefined);
  }
  all = withSubcommands(program).flatMap((command) =>
    command.options.map((option) => ({ path: pathOf(command), option })),
  );
});

function withSubcommands(command: Command): readonly Command[] {
  return command.commands.flatMap((each) => [each, ...withSubcommands(each)]);
}

function pathOf(command: Command): readonly string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

/** Detects a secret by the name of the option or of its value, except file, folder and duration. */
function isSecret({ flags }: Option): boolean {
  const [, value] = /[<[]([^>\]]+)/.exec(flags) ?? [];
  if (value === undefined || /^(file|folder|duration)$/.test(value)) return false;
  return /pass|secret|token|jwt|credential|redis|\bauth/i.test(flags);
}

describe('an option with a secret value', () => {
  it('has an environment variable in every command, and its value is never shown', () => {
    const secrets = all.filter(({ option }) => isSecret(option));
    const named = secrets.map(({ path, option }) => `${path.join(' ')} ${option.long}`);
    expect(named).toEqual(
      expect.arrayContaining([
        ...['serve --admin-password', 'simulate --password', 'simulate --tenant-token'],
        ...['simulate cleanup --token', 'simulate --redis', 'worker --redis'],
        ...['conform --password', 'conform --token', 'conform rerun --control-token'],
        ...['conform cleanup --token', 'terminal --password', 'journal --control-token'],
      ]),
    );
    const bare = secrets.filter(({ option }) => option.envVar?.startsWith('FLEETBED_') !== true);
    expect(bare.map(({ path, option }) => [...path, option.flags])).toEqual([]);
    const readableSecrets = secrets.filter(({ option }) => !(option instanceof SecretOption));
    expect(readableSecrets.map(({ path, option }) => [...path, option.flags])).toEqual([]);
  });

  const unasked = {
    FLEETBED_CONTROL_TOKEN: '',
    FLEETBED_TOKEN: '',
    FLEETBED_PASSWORD: '',
  };
  it.each<[string, Readonly<Record<string, string>>, string]>([
    [
      'journal --control-url http://127.0.0.1:1',
      {},
      'give --control-token (env: FLEETBED_CONTROL_TOKEN).',
    ],
    ['simulate cleanup x', {}, '--password (env: FLEETBED_PASSWORD) or --token (env: FLEETBED_T'],
    ['worker', { FLEETBED_REDIS: '' }, '(env: FLEETBED_REDIS) is not given'],
    ['worker --redis htp://:hunter22@h', {}, '(env: FLEETBED_REDIS) is invalid. Accepted: a redis'],
    ['simulate --deploy x', {}, 'needs --accept, with --password (env: FLEETBED_PASSWORD) or --t'],
    [
      'terminal x --url http://127.0.0.1:1',
      {},
      'name a user with --password (env: FLEETBED_PASSWORD) or --token (env: FLEETBED_TOKEN).',
    ],
    ['conform cleanup x', {}, '--password (env: FLEETBED_PASSWORD) or --token (env: FLEETB'],
    [
      'conform --list --password a --token b',
      {},
      "'--token <jwt>' cannot be used with option '--password",
    ],
    [
      'conform cleanup x --control-url http://127.0.0.1:1',
      {},
      'needs --control-token (env: FLEETBED_CONTROL_TOKEN)',
    ],
  ])(
    'is named with its variable when missing in: fleetbed %s',
    async (args, environment, sentence) => {
      const given = { ...unasked, ...environment };
      const { code, stderr } = await runCommand(args.split(' '), given);
      expect(stderr).toContain(sentence);
      expect(code).toBe(2);
      expect(stderr).not.toContain('hunter22');
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    },
  );

  it('is taken from the command line rather than from the environment', async () => {
    const environment = { FLEETBED_REDIS: 'nonsense' };
    const { stderr } = await runCommand(
      ['simulate', '--redis', 'redis://127.0.0.1:1', '--plan', '/nonexistent'],
      environment,
    );
    expect(stderr).not.toContain('invalid');
    expect(stderr).toContain('/nonexistent');
  });
});
