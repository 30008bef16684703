import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operations } from '../../fixtures/contract/operations.ts';
import { createOutput } from '../output/output.ts';
import { runCommand, startCommand, startServe } from '../testing/built-command.ts';
import { runningServers, writeRunFile } from './run-file.ts';

const chunk = Buffer.alloc(1_048_576, ' ');
const server = createServer(async (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
  const endless = Readable.from(
    (function* () {
      for (;;) yield chunk;
    })(),
  );
  // The pipeline fails because the reader closes the connection.
  await pipeline(endless, createGzip({ level: 1 }), response).catch(() => undefined);
});
let url: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('a command stops reading an endless response, even a compressed one', {
  timeout: 60_000,
}, async () => {
  const { code, stderr } = await runCommand([
    'journal',
    '--control-url',
    url,
    '--control-token',
    'any',
  ]);
  expect(stderr).toContain(`${url} answers with more than 268435456 bytes; request less.`);
  expect(code).toBe(3);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

describe('the server that runs on this machine', { timeout: 60_000 }, () => {
  let home: string;
  let folder: string;
  let own: Readonly<Record<string, string>>;

  beforeAll(() => {
    home = mkdtempSync(join(tmpdir(), 'fleetbed-run-'));
    folder = join(home, 'fleetbed');
    const unset = { FLEETBED_CONTROL_URL: '', FLEETBED_CONTROL_TOKEN: '', FLEETBED_TOKEN: '' };
    own = { XDG_RUNTIME_DIR: home, XDG_STATE_HOME: join(home, 'state'), ...unset };
  });
  afterAll(() => rmSync(home, { recursive: true }));

  const run = (args: string, environment = own) => runCommand(args.split(' '), environment);
  const serve = () => startServe([], [], own);
  const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8);

  it('is found by its owner-only run file, which is removed at its end', async () => {
    const { running, ready } = await serve();
    try {
      const file = join(folder, `${running.child.pid}.json`);
      expect([modeOf(folder), modeOf(file), readdirSync(folder).length]).toEqual(['700', '600', 1]);
      const url = ready.baseUrl + operations['get-configuration'].path;
      await fetch(url, { headers: { 'X-SVC-RequestID': 'pasted' } });
      const found = await run('explain pasted');
      expect([found.code, found.stdout]).toEqual([0, expect.stringContaining('answered')]);
      expect((await run(`journal --control-url ${ready.controlUrl}`)).code).toBe(0);
      const wrong = await run('journal', { ...own, FLEETBED_CONTROL_TOKEN: ready.controlToken });
      expect(wrong.code).toBe(0);
      const otherUrl = await run('journal --control-url http://127.0.0.1:1');
      expect([otherUrl.code, otherUrl.stderr]).toEqual([
        2,
        expect.stringMatching(/^fleetbed: no server started by this user .*--control-token/),
      ]);
      const given = await run(`journal --control-url ${ready.controlUrl} --control-token x`);
      expect([given.code, given.stderr]).toEqual([3, expect.stringContaining('refuses the contr')]);
      expect((await run('terminal nobody')).stderr).toContain('identity value nobody');
      await running.end();
      expect(existsSync(file)).toBe(false);
    } finally {
      await running.end();
    }
    const { code, stderr } = await run('journal');
    expect([code, stderr]).toEqual([
      3,
      'fleetbed: no running server was found on this machine; start one with npx fleetbed serve, or ' +
        'give --control-url and --control-token (env: FLEETBED_CONTROL_TOKEN).\n',
    ]);
  });

  it('is listed with the other servers when there are several', async () => {
    const [one, other] = await Promise.all([serve(), serve()]);
    const { code, stderr } = await run('journal');
    expect([code, stderr.trimEnd().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toContain('2 servers run on this machine; choose one: --control-url http');
    for (const { ready } of [one, other]) {
      expect(stderr).toContain(`--control-url ${ready.controlUrl} (API at ${ready.baseUrl}, `);
      expect((await run(`journal --control-url ${ready.controlUrl}`)).code).toBe(0);
    }
    expect((await run('terminal nobody')).stderr).toContain(`--url ${one.ready.baseUrl} (control`);
    await one.running.end('SIGKILL');
    expect(readdirSync(folder)).toHaveLength(2);
    expect((await run('journal')).code).toBe(0);
    expect(readdirSync(folder)).toEqual([`${other.running.child.pid}.json`]);
    await other.running.end();
  });

  it('is not found by a file or folder of another owner', async () => {
    const { running, ready } = await serve();
    await running.end();
    for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
    const uid = vi.spyOn(process, 'getuid');
    try {
      const found = () => runningServers().map(({ controlUrl }) => controlUrl);
      const remove = await writeRunFile(ready, createOutput(true));
      expect(found()).toEqual([ready.controlUrl]);
      // Only root can give files to another user, so this process acts as that user.
      const { uid: owner } = lstatSync(folder);
      uid.mockReturnValue(owner + 1);
      expect(found()).toEqual([]);
      uid
        .mockReset()
        .mockReturnValueOnce(owner)
        .mockReturnValue(owner + 1);
      expect(found()).toEqual([]);
      // The folder belongs to this user, but the file in it does not.
      expect(uid).toHaveBeenCalledTimes(2);
      uid.mockReturnValue(owner);
      expect(found()).toEqual([ready.controlUrl]);
      remove();
    } finally {
      uid.mockRestore();
      vi.unstubAllEnvs();
    }
  });

  it('may be a server that fleetbed demo started, while the demo runs', async () => {
    const demo = startCommand(['demo'], own);
    try {
      const written = await demo.waitForOutput('stderr', /^server: ready at .*$/m);
      const baseUrl = /^server: ready at (.*)$/m.exec(written)?.[1];
      expect(readdirSync(folder)).toEqual([`${demo.child.pid}.json`]);
      expect(modeOf(join(folder, `${demo.child.pid}.json`))).toBe('600');
      const { code, stdout } = await run('clock --json');
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ mode: 'base' })]);
      const named = JSON.parse(readFileSync(join(folder, `${demo.child.pid}.json`), 'utf8'));
      expect(named.baseUrl).toBe(baseUrl);
    } finally {
      await demo.end('SIGINT');
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not found through a link or a file that others can read', async () => {
    const { running, ready } = await serve();
    await running.end();
    for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
    try {
      const leave = () => writeRunFile(ready, createOutput(true));
      const remove = await leave();
      const file = join(folder, `${process.pid}.json`);
      const text = readFileSync(file, 'utf8');
      const found = () => runningServers().map(({ controlUrl }) => controlUrl);
      expect(found()).toEqual([ready.controlUrl]);
      chmodSync(file, 0o644);
      expect(found()).toEqual([]);
      renameSync(file, join(home, 'moved'));
      chmodSync(join(home, 'moved'), 0o600);
      symlinkSync(join(home, 'moved'), file);
      expect(found()).toEqual([]);
      rmSync(file);
      const wrongs = ['', '{', '[]', text.replace('"pid":', '"pid":"'), text.replace('http:', '')];
      for (const wrong of wrongs) {
        writeFileSync(file, wrong, { mode: 0o600 });
        expect(found()).toEqual([]);
      }
      writeFileSync(file, text);
      expect(found()).toEqual([ready.controlUrl]);
      chmodSync(folder, 0o755);
      expect(found()).toEqual([]);
      remove();
      rmSync(folder, { recursive: true });
      mkdirSync(join(home, 'elsewhere'));
      symlinkSync(join(home, 'elsewhere'), folder);
      const removeAgain = await leave();
      expect(readdirSync(join(home, 'elsewhere'))).toEqual([]);
      expect(readdirSync(join(home, 'state', 'fleetbed', 'run'))).toEqual([`${process.pid}.json`]);
      expect(found()).toEqual([ready.controlUrl]);
      removeAgain();
      expect(found()).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});
