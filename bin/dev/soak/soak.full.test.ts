import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../../build/bin/dev/soak/soak.js', import.meta.url));

interface Outcome {
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function soak(...args: readonly string[]): Promise<Outcome> {
  return promisify(execFile)(process.execPath, [script, ...args]).catch((error) => error);
}

describe('the command line of the soak', () => {
  it('shows its options and the names of its parts with --help', async () => {
    const { code, stdout } = await soak('--help');
    expect(code).toBeUndefined();
    expect(stdout).toContain('fuzz, stalls, kills, damage, connections');
  });

  it.each([
    [['--wrong'], "Unknown option '--wrong'"],
    [['--part', 'nothing'], '--part nothing: use one of fuzz,'],
    [['--times', '0'], '--times 0: use a whole number above 0'],
  ])('names the error in %j', async (args, sentence) => {
    const { code, stderr } = await soak(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
