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
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '../testing/test-artifacts.ts';
import { acceptedDevice } from '../testing/test-device.ts';
import { startTestServer } from '../testing/test-server.ts';
import { DataFolder } from './data-folder.ts';
import { exportState } from './state-export.ts';
import { TestFolder } from './testing/engines.ts';

let folder: TestFolder;
let data: string;
let killed: string;

/** A folder as a killed server leaves it, with logs beside its databases. */
beforeAll(async () => {
  folder = new TestFolder();
  data = join(folder.path, 'data');
  killed = join(folder.path, 'killed');
  const server = await startTestServer({ dataFolder: killed });
  await publish(server);
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
    // The path of a socket may only be short.
    const place = join(folder.path, 's');
    const listening = createServer();
    await new Promise<void>((resolve) => listening.listen(place, resolve));
    renameSync(place, path);
    await new Promise((resolve) => listening.close(resolve));
  },
  'a device': (path) => symlinkSync('/dev/zero', path),
};

/** Every entry by its path, with its kind, rights and content. */
function listed(path: string): Readonly<Record<string, string>> {
  const names = readdirSync(path, { recursive: true }).map(String).toSorted();
  const told = names.map((name) => {
    const place = join(path, name);
    const found = lstatSync(place);
    const content = found.isFile()
      ? readFileSync(place, 'base64')
      : found.isSymbolicLink() && readlinkSync(place);
    return [name, `${found.mode.toString(8)} ${content}`];
  });
  return Object.fromEntries(told);
}

async function refusal(work: () => Promise<unknown>): Promise<string> {
  return work().then(
    () => 'no refusal',
    (fault: unknown) => String(fault),
  );
}

describe.each(Object.keys(kinds))('%s in the data folder', (kind) => {
  it('in place of any file is refused by its name, and nothing in the folder is changed', async () => {
    const files = readdirSync(killed, { recursive: true })
      .map(String)
      .filter((name) => lstatSync(join(killed, name)).isFile());
    expect(files.map((name) => name.replace(/^.*\//, ''))).toEqual(
      expect.arrayContaining(['server.lock', 'server.sqlite', 'server.sqlite-wal']),
    );
    for (const name of [...files, 'server.sqlite-journal', 'server.sqlite.copy-0']) {
      execFileSync('cp', ['-a', killed, data]);
      const path = join(data, name);
      rmSync(path, { force: true });
      await kinds[kind]?.(path);
      const before = listed(data);
      const told = await refusal(() => DataFolder.open(data));
      expect(told).toContain(`${path} is ${kind} where a file must be; put the file itself`);
      expect(listed(data)).toEqual(before);
      rmSync(data, { recursive: true });
    }
  });

  it('does not keep an export waiting, which leaves out what it held', async () => {
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
      const before = listed(data);
      const out = join(folder.path, 'state');
      const { lost } = await exportState({ folder: data, out, newToken: () => 'new' });
      if (name !== 'server.lock') expect(lost.join('\n')).toContain(`${path} is ${kind} where`);
      expect(listed(data)).toEqual(before);
      rmSync(data, { recursive: true });
    }
  });
});

describe('a refused data folder', () => {
  it('without a lock file gets none', async () => {
    execFileSync('cp', ['-a', killed, data]);
    rmSync(join(data, 'server.lock'));
    rmSync(join(data, 'server.sqlite-wal'));
    const before = listed(data);
    expect(await refusal(() => DataFolder.open(data))).toContain('server.sqlite-wal is missing');
    expect(listed(data)).toEqual(before);
  });
});
