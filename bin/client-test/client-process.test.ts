import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientProcess, filledCommand, printedBy } from './client-process.ts';

const placeholders = { url: 'https://127.0.0.1:9', ca: '/tmp/ca.pem', dir: '/tmp/d' };

let folder: string;
let output: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'client-process-'));
  output = join(folder, 'output.txt');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts a command, and resolves once it has ended by itself. */
function runToEnd(command: string): Promise<ClientProcess> {
  return new Promise((resolve) => {
    const client: ClientProcess = new ClientProcess(output, () => resolve(client));
    client.start(command);
  });
}

describe('the command of a client', () => {
  it('has the words in braces replaced, each as often as it occurs', () => {
    const command = 'c --server {server} {url} --ca {ca} --dir {dir}/{dir}';
    expect(filledCommand(command, placeholders)).toBe(
      'c --server https://127.0.0.1:9 https://127.0.0.1:9 --ca /tmp/ca.pem --dir /tmp/d//tmp/d',
    );
  });

  it.each(['{other}', '{}', '${dir', '{ dir }'])('keeps other braces as they are: %s', (text) =>
    expect(filledCommand(text, placeholders)).toBe(text),
  );
});

describe('the process of a client', () => {
  it('is described by its exit code and its last line when it ends by itself', async () => {
    const { death } = await runToEnd('echo first; echo no certificate >&2; exit 7');
    expect(death).toBe('the client ended by itself with code 7; its last line was: no certificate');
  });

  it('is described by the exit code of the shell when its command is missing', async () => {
    const { death } = await runToEnd('/nowhere/client');
    expect(death).toMatch(/^the client ended by itself with code 127; its last line was: .*client/);
  });

  it('is killed together with its child processes, without a report that it ended by itself', async () => {
    let deaths = 0;
    const client = new ClientProcess(output, () => {
      deaths += 1;
    });
    client.start('sleep 300 & echo $!; wait');
    await expect.poll(() => readFileSync(output, 'utf8')).toMatch(/^\d+\n$/);
    const child = Number(readFileSync(output, 'utf8'));
    await client.kill();
    await expect.poll(() => isRunning(child)).toBe(false);
    expect([deaths, client.death]).toEqual([0, undefined]);
  });

  it('keeps at most a megabyte of its output', async () => {
    await runToEnd('yes 123456789 | head -c 3000000');
    expect(readFileSync(output)).toHaveLength(1_048_576);
  });
});

describe('a command from the author of a client', () => {
  it('returns its output without line ends', async () => {
    expect(await printedBy('echo release-2')).toBe('release-2');
  });

  it('causes an error with its exit code when it fails', async () => {
    await expect(printedBy('exit 3')).rejects.toMatchObject({ code: 3 });
  });
});

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
