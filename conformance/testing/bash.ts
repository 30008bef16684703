/** Runs a block of shell commands as a user would: with bash, in an empty folder. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The result of a block; any text on standard error means that the block is wrong. */
export interface BlockOutput {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Creates a folder for related blocks, for example for the key that the first one creates; the
 * owner removes it.
 */
export function blockFolder(): string {
  return mkdtempSync(join(tmpdir(), 'fleetbed-repro-script-'));
}

/** Runs an independent block in a folder that is removed afterwards. */
export async function runLoneBlock(
  block: string,
  variables: Readonly<Record<string, string>>,
): Promise<BlockOutput> {
  const folder = blockFolder();
  try {
    return await runBlock(block, folder, variables);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a block in the folder `cwd`, and resolves when it has ended. */
export function runBlock(
  block: string,
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<BlockOutput> {
  const { PATH = '' } = process.env;
  const child = spawn('bash', ['-u', '-s'], { cwd, env: { PATH, HOME: cwd, ...variables } });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  child.stdin.end(`${block}\n`);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
}
