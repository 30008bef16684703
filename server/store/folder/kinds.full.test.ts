import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { fetchFile, linkTo, publish } from '../../testing/test-artifacts.ts';
import { acceptedDevice } from '../../testing/test-device.ts';
import { startTestServer } from '../../testing/test-server.ts';
import { control } from '../../testing/test-tenants.ts';
import { TestFolder } from '../engine/testing/engines.ts';
import { DataFolder } from './data-folder.ts';
import { exportState } from './export.ts';

let folder: TestFolder;
let data: string;
let killed: string;
let artifactId: string;

/** Creates a folder as a killed server leaves it, with logs beside its databases. */
beforeAll(async () => {
  folder = new TestFolder();
  data = join(folder.path, 'data');
  killed = join(folder.path, 'killed');
  const server = await startTestServer({ dataFolder: killed });
  artifactId = await publish(server);
  await acceptedDevice(server, 'a');
  execFileSync('cp', ['-a', killed, data]);
  await server.close();
  rmSync(killed, { recursive: true });
  renameSync(data, killed);
});

afterEach(() => rmSync(data, { recursive: true, force: true }));

afterAll(() => folder.remove());

const kinds: Readonly<Record<string, (path: string) => void | Promise<void>>> = {
  'a named pipe': (path) => void execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdirSync(path),
  'a socket': async (path) => {
    // The path of a socket must be short.
    const target = join(folder.path, 's');
    const listening = createServer();
    await new Promise<void>((resolve) => listening.listen(target, resolve));
    renameSync(target, path);
    await new Promise((resolve) => listening.close(resolve));
  },
  'a device': (path) => symlinkSync('/dev/zero', path),
};

/** Returns every entry by its path, with its kind, rights and content. */
function listFiles(path: string): Readonly<Record<string, string>> {
  const names = readdirSync(path, { recursive: true }).map(String).toSorted();
  const outcome = names.map((name) => {
    const target = join(path, name);
    const found = lstatSync(target);
    const content = found.isFile()
      ? readFileSync(target, 'base64')
      : found.isSymbolicLink() && readlinkSync(target);
    return [name, `${found.mode.toString(8)} ${content}`];
  });
  return Object.fromEntries(outcome);
}

/** Returns the paths of the files in a folder. */
function filesOf(path: string): string[] {
  const names = readdirSync(path, { recursive: true }).map(String);
  return names.filter((name) => lstatSync(join(path, name)).isFile());
}

async function refusal(work: () => Promise<unknown>): Promise<string> {
  return work().then(
    () => 'no refusal',
    (error: unknown) => String(error),
  );
}

describe.each(Object.keys(kinds))('%s in the data folder', (kind) => {
  it('is refused by name in place of a file, and the folder stays unchanged', async () => {
    const files = filesOf(killed);
    expect(files.map((name) => name.replace(/^.*\//, ''))).toEqual(
      expect.arrayContaining(['server.lock', 'server.sqlite', 'server.sqlite-wal']),
    );
    for (const name of [...files, 'server.sqlite-journal', 'server.sqlite.copy-0']) {
      execFileSync('cp', ['-a', killed, data]);
      const path = join(data, name);
      rmSync(path, { force: true });
      await kinds[kind]?.(path);
      const filesBefore = listFiles(data);
      const outcome = await refusal(() => DataFolder.open(data));
      expect(outcome).toContain(
        `${path} is ${kind} where a file must be; replace it with the file itself`,
      );
      expect(listFiles(data)).toEqual(filesBefore);
      rmSync(data, { recursive: true });
    }
  });

  it('does not block an export, which omits the rows of that file', async () => {
    for (const name of [
      'server.lock',
      'server.sqlite',
      'server.sqlite-wal',
      'server.sqlite-sums',
    ]) {
      execFileSync('cp', ['-a', killed, data]);
      const path = join(data, name);
      rmSync(path);
      await kinds[kind]?.(path);
      const filesBefore = listFiles(data);
      const out = join(folder.path, 'state');
      const { lost } = await exportState({ folder: data, out, newToken: () => 'new' });
      if (name !== 'server.lock') expect(lost.join('\n')).toContain(`${path} is ${kind} where`);
      expect(listFiles(data)).toEqual(filesBefore);
      rmSync(data, { recursive: true });
    }
  });
});

describe('a refused data folder', () => {
  it('does not get a lock file if it had none', async () => {
    execFileSync('cp', ['-a', killed, data]);
    rmSync(join(data, 'server.lock'));
    rmSync(join(data, 'server.sqlite-wal'));
    const filesBefore = listFiles(data);
    expect(await refusal(() => DataFolder.open(data))).toContain('server.sqlite-wal is missing');
    expect(listFiles(data)).toEqual(filesBefore);
  });
});

describe('a sparse file of 200 GiB in the data folder', () => {
  const bytes = 200 * 2 ** 30;
  const artifactName = () => filesOf(killed).find((one) => one.includes('artifacts')) ?? '';

  /** Extends the file to this size and returns the results of a start and an export. */
  async function withHoles(name: string, make: (path: string) => void = () => undefined) {
    execFileSync('cp', ['-a', killed, data]);
    const path = join(data, name);
    writeFileSync(path, '', { flag: 'a' });
    make(path);
    truncateSync(path, bytes);
    const outcome = await refusal(async () => (await DataFolder.open(data)).close());
    const out = join(folder.path, 'state');
    const { rows, lost } = await exportState({ folder: data, out, newToken: () => 'new' });
    rmSync(out);
    rmSync(data, { recursive: true });
    return { path, outcome, rows, lost: lost.join('\n') };
  }

  it('is refused by name and size, or read in part', async () => {
    const opened = ['server.sqlite-wal', 'tenant.sqlite-wal', 'tenant.sqlite.copy-1'];
    const isOpened = (name: string) => opened.includes(basename(name));
    const names = filesOf(killed).filter((name) => name !== 'server.lock');
    for (const name of [...names, 'server.sqlite-journal']) {
      const { path, outcome } = await withHoles(name);
      expect(outcome).toContain(isOpened(name) ? 'no refusal' : `${path}`);
      if (!isOpened(name)) expect(outcome).toContain(` has ${bytes} `);
    }
    expect((await withHoles('server.lock')).outcome).toContain('server.lock is not a database');
  });

  it('does not prevent an export from saving every row', async () => {
    const { rows } = await withHoles('server.sqlite.copy-1');
    for (const name of filesOf(killed).filter((one) => !one.includes('artifacts'))) {
      expect({ name, rows: (await withHoles(name)).rows }).toEqual({ name, rows });
    }
  });

  it('is omitted from an export if it is an artifact', async () => {
    const { path, lost } = await withHoles(artifactName());
    expect(lost).toContain(`${path} has ${bytes} of `);
  });

  it.each(['server.sqlite', 'tenant.sqlite', 'server.sqlite-sums'])(
    'is not accepted as %s when it has no content',
    async (base) => {
      const name = filesOf(killed).find((one) => basename(one) === base) ?? '';
      const { path, outcome, lost } = await withHoles(name, (one) => truncateSync(one));
      const problem = base.endsWith('-sums') ? `has ${bytes} of ` : 'is no longer a database';
      for (const sentence of [outcome, lost]) expect(sentence).toContain(`${path} ${problem}`);
    },
  );

  it('is not read if an artifact reaches it at runtime', async () => {
    execFileSync('cp', ['-a', killed, data]);
    const random = seededRandom('while it runs');
    const server = await startTestServer({ dataFolder: data, random });
    try {
      const { token } = await acceptedDevice(server, 'b');
      const { uri } = await linkTo(server, token, artifactId);
      truncateSync(join(data, artifactName()), bytes);
      expect((await fetchFile(uri)).status).toBe(500);
      const forked = await control(server, 'POST', '/fork', { name: 'f', adminEmail: 'f@b.c' });
      expect(forked.status).toBe(500);
    } finally {
      await server.close();
    }
  });
});
