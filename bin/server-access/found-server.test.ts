import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOutput } from '../output/output.ts';
import { addControlOptions } from './control-listener.ts';
import { foundTarget } from './found-server.ts';
import { writeRunFile } from './run-file.ts';
import { addServerOptions } from './server-options.ts';

const ready = {
  event: 'ready',
  baseUrl: 'http://127.0.0.1:18080',
  controlUrl: 'http://127.0.0.1:18081',
  adminEmail: 'admin@example.com',
  adminPassword: 'a-long-password',
  adminToken: 'a.user.token',
  controlToken: 'a-control-token',
  headerPrefix: 'X-SVC',
  version: '0',
} as const;
const { baseUrl, controlUrl, controlToken, adminPassword } = ready;
const otherUrl = 'http://127.0.0.1:18099';

let folder: string;
let removeRunFile: () => void;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-found-'));
  vi.stubEnv('XDG_RUNTIME_DIR', folder);
  vi.stubEnv('XDG_STATE_HOME', folder);
  for (const name of ['URL', 'CONTROL_URL', 'CONTROL_TOKEN', 'TOKEN', 'PASSWORD']) {
    vi.stubEnv(`FLEETBED_${name}`, undefined);
  }
  removeRunFile = await writeRunFile(ready, createOutput(true));
});

afterAll(() => {
  removeRunFile();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** Returns the options of a command with these arguments, as its action sees them. */
async function optionsOf(add: (command: Command) => Command, args: readonly string[]) {
  const command = add(new Command().exitOverride()).action(() => undefined);
  await command.parseAsync(['node', 'x', ...args]);
  return command.opts();
}

describe('a command that calls the control listener', () => {
  it.each([
    [[]],
    [['--url', `${baseUrl}/`]],
    [['--control-url', controlUrl]],
    [['--url', baseUrl, '--control-token', controlToken]],
    [['--control-token', controlToken]],
  ])('finds the listener and its token by one address or none: %j', async (args) => {
    expect(await optionsOf(addControlOptions, args)).toMatchObject({ controlUrl, controlToken });
  });

  it('prefers the given listener to that of the given API', async () => {
    const args = ['--url', baseUrl, '--control-url', otherUrl, '--control-token', 'x'];
    expect(await optionsOf(addControlOptions, args)).toMatchObject({ controlUrl: otherUrl });
  });

  it.each([[['--url', otherUrl]], [['--url', otherUrl, '--control-token', 'x']]])(
    'says that the listener of an unknown API is unknown: %j',
    async (args) => {
      await expect(optionsOf(addControlOptions, args)).rejects.toThrow(
        `has its API at ${otherUrl}, so its control listener is unknown; give --control-url and`,
      );
    },
  );

  it('names the variable that gives the unknown API', async () => {
    vi.stubEnv('FLEETBED_URL', otherUrl);
    await expect(optionsOf(addControlOptions, [])).rejects.toThrow(`FLEETBED_URL (${otherUrl})`);
    vi.stubEnv('FLEETBED_URL', undefined);
  });
});

describe('a command that calls the management API', () => {
  it.each([[[]], [['--url', baseUrl]], [['--control-url', controlUrl]]])(
    'finds the API and its user by one address or none: %j',
    async (args) => {
      expect(await optionsOf(addServerOptions, args)).toMatchObject({
        url: baseUrl,
        foundAdmin: { adminPassword },
      });
    },
  );

  it.each([[['--control-url', otherUrl]], [['--control-url', otherUrl, '--token', 'x']]])(
    'says that the API of an unknown control listener is unknown: %j',
    async (args) => {
      await expect(optionsOf(addServerOptions, args)).rejects.toThrow(
        `has its control listener at ${otherUrl}, so the URL of its API is unknown; give --url.`,
      );
    },
  );
});

describe('a target that one address names', () => {
  const email = 'admin@example.com';

  it('has the control listener and the user of the server with that API', () => {
    expect(foundTarget({ url: baseUrl, email }, true)).toMatchObject({
      url: baseUrl,
      controlUrl,
      controlToken,
      password: adminPassword,
    });
  });

  it('has the API and the user of the server with that control listener', () => {
    const found = foundTarget({ url: otherUrl, email, controlUrl }, false);
    expect(found).toMatchObject({ url: baseUrl, controlToken, password: adminPassword });
  });

  it('keeps the given user, and takes the password of no other user', () => {
    const url = baseUrl;
    expect(foundTarget({ url, email, token: 'x' }, true)).not.toHaveProperty('password');
    expect(foundTarget({ url, email: 'b@example.com' }, true)).not.toHaveProperty('password');
    expect(foundTarget({ url, email, password: 'own' }, true).password).toBe('own');
  });

  it('gets no secret of another server', () => {
    expect(foundTarget({ url: otherUrl, email }, true)).toEqual({ url: otherUrl, email });
    const mixed = foundTarget({ url: baseUrl, email, controlUrl: otherUrl }, true);
    expect(mixed).not.toHaveProperty('controlToken');
  });

  it('is refused when only an unknown control listener is given', () => {
    expect(() => foundTarget({ url: baseUrl, email, controlUrl: otherUrl }, false)).toThrow(
      'so the URL of its API is unknown; give --url.',
    );
  });
});
