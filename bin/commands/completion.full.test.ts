import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../testing/built-command.ts';
import { programOnTerminal } from '../testing/pseudo-terminal.ts';
import { hasProgram } from '../testing/test-tools.ts';

const folder = mkdtempSync(join(tmpdir(), 'fleetbed-completion-'));
const environment = {
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  FLEETBED_CONFIG: 'none',
};

beforeAll(() => {
  const built = fileURLToPath(new URL('../../dist/bin/fleetbed.js', import.meta.url));
  chmodSync(built, 0o755);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(built, join(folder, 'bin', 'fleetbed'));
  writeFileSync(join(folder, 'night.yaml'), '');
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Writes the script for a shell and returns its path. */
async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await runCommand(['completion', shell]);
  expect(code).toBe(0);
  const file = join(folder, shell);
  writeFileSync(file, stdout);
  return file;
}

/** Returns what `fleetbed complete` answers for the arguments of a command line. */
async function completeArgs(...args: readonly string[]) {
  const { code, stdout } = await runCommand(['complete', '--', ...args], environment);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  return {
    values: lines.slice(0, -1).map((line) => line.split('\t')[0]),
    offersFiles: lines.at(-1) === ':0',
  };
}

describe('the completion of a command line', { timeout: 60_000 }, () => {
  it.each([
    { args: ['ser'], values: ['serve'] },
    { args: ['conform', 'ju'], values: ['judge'] },
    { args: ['serve', '--po'], values: ['--port'] },
    { args: ['conform', 'judge', '--header'], values: ['--header-prefix'] },
    { args: ['serve', '--port', '80', '--log-level', 'e'], values: ['error'] },
    { args: ['serve', '--log-level=e'], values: ['error'] },
    { args: ['serve', '--log-level', '=', 'e'], values: ['error'] },
    { args: ['conform', '--report', 'ju'], values: ['junit='] },
    { args: ['completion', 'z'], values: ['zsh'] },
    { args: ['no-such-command', 'x'], values: [] },
  ])('offers $values after the arguments $args', async ({ args, values }) => {
    expect((await completeArgs(...args)).values).toEqual(values);
  });

  it('offers files where a command or an option takes one, and nowhere else', async () => {
    expect((await completeArgs('conform', 'judge', '')).offersFiles).toBe(true);
    expect((await completeArgs('simulate', '--plan', '')).offersFiles).toBe(true);
    expect((await completeArgs('with-server', '--', './')).offersFiles).toBe(true);
    expect((await completeArgs('serve', '--port', '')).offersFiles).toBe(false);
    expect((await completeArgs('')).offersFiles).toBe(false);
  });

  it('offers every visible command, and no command that only fleetbed itself runs', async () => {
    const { values } = await completeArgs('');
    expect(values).toContain('serve');
    expect(values).not.toContain('run-shard');
    expect(values).not.toContain('complete');
  });
});

describe('the completion script for commands, options and files', { timeout: 60_000 }, () => {
  /** Types three prefixes, waits for each to be completed, and leaves the shell. */
  async function typeIn(shell: string, args: readonly string[], prefix = ''): Promise<void> {
    const source = `cd ${folder}; ${prefix}source ${await scriptFor(shell)}`;
    const { code, written } = await programOnTerminal(args, {
      keys: [
        // The first output is the prompt.
        ['', `${source}; echo sou''rced\n`],
        ['sourced\r\n', 'fleetbed confo\t'],
        ['fleetbed conform', '--disr\t'],
        ['--disruptive', '\u0015fleetbed simulate --plan nig\t'],
        ['night.yaml', '\u0015exit\n'],
      ],
      environment,
    });
    expect(written).toContain('night.yaml');
    expect(code).toBe(0);
  }

  it('works in bash without any other package', async () => {
    await typeIn('bash', ['bash', '--norc', '--noprofile', '-i']);
  });

  it.skipIf(!hasProgram('zsh'))('works in zsh with the completion system of zsh', async () => {
    await typeIn('zsh', ['zsh', '-f', '-i'], 'autoload -U compinit; compinit -u -D; ');
  });

  it.skipIf(!hasProgram('fish'))('works in fish with descriptions', async () => {
    const script = await scriptFor('fish');
    const lines = [
      'fleetbed conf',
      'fleetbed serve --po',
      `fleetbed simulate --plan ${folder}/nig`,
    ];
    const asked = lines.map((line) => `complete -C "${line}"`);
    const program = ['fish', '--no-config', '-c', [`source ${script}`, ...asked].join('; ')];
    const { code, written } = await programOnTerminal(program, { environment });
    expect(code).toBe(0);
    expect(written).toContain('conform\ttest a server against the contract');
    expect(written).toContain('--port');
    expect(written).toContain('night.yaml');
  });
});
