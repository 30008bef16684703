import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand, startServe } from './testing/built-command.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-test-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function serve(data: string) {
  return runCommand(['serve', '--port', '0', '--control-port', '0', '--data', data]);
}

describe('fleetbed serve --data', () => {
  it('shows the same random password at every start, and none that it does not know', async () => {
    const data = join(folder, 'data');
    const passwords: string[] = [];
    for (const words of [[], [], ['--admin-password', 'correct horse'], []]) {
      const { running, ready } = await startServe(['--data', data, ...words]);
      passwords.push(ready.adminPassword);
      await running.end();
    }
    const [first = ''] = passwords;
    expect(first).toMatch(/^.{16}$/);
    expect(passwords).toEqual([first, first, 'correct horse', '']);
  });

  it('is refused while another server has the folder, with one sentence and exit code 3', async () => {
    const data = join(folder, 'data');
    const { running } = await startServe(['--data', data]);
    const { code, stderr } = await serve(data);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/^fleetbed: .*is in use by another process; stop that process.*\n$/),
    ]);
    await running.end();
  });

  it('is refused with a folder of other files, which stay', async () => {
    writeFileSync(join(folder, 'thesis.txt'), 'do not touch');
    const { code, stderr } = await serve(folder);
    expect([code, stderr]).toEqual([3, expect.stringContaining('holds other files')]);
    expect(readdirSync(folder)).toEqual(['thesis.txt']);
  });

  it('needs a folder', async () => {
    expect((await serve('')).code).toBe(2);
  });
});
