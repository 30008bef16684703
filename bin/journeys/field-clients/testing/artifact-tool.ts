/** Runs Debian's `mender-artifact`, which writes, checks and prints artifact files. */
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lendProgram } from './programs.ts';
import { unprivileged } from './running-program.ts';

const RUN_MAX_MS = 10_000;

/** The output of the tool for a file, and whether it accepted the file. */
interface ToolOutput {
  readonly code: number | null;
  readonly text: string;
}

/** The tool with its own temporary folder. */
export interface ArtifactTool {
  /** Puts a file into the folder. */
  put(name: string, content: string | Uint8Array): void;
  /** Runs the tool on files of the folder. */
  run(...args: readonly string[]): ToolOutput;
  /**
   * Runs `mender-artifact write` and returns the artifact.
   * @throws Error when the tool writes none
   */
  write(...args: readonly string[]): Buffer;
  /** Removes the folder. */
  close(): void;
}

export function openArtifactTool(): ArtifactTool {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-artifacts-'));
  const { program, environment } = lendProgram(folder, 'mender-artifact');
  if (unprivileged) chownSync(folder, unprivileged.uid, unprivileged.gid);
  const run = (...args: readonly string[]): ToolOutput => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      env: environment,
      timeout: RUN_MAX_MS,
      ...unprivileged,
    });
    return { code: status, text: stdout + stderr };
  };
  return {
    put: (name, content) => writeFileSync(join(folder, name), content),
    run,
    write: (...args) => {
      const file = join(folder, 'written.mender');
      rmSync(file, { force: true });
      const { text } = run('write', ...args, '--output-path', 'written.mender');
      // For some errors the tool exits with code 0.
      if (!existsSync(file)) throw new Error(`mender-artifact wrote nothing: ${text}`);
      return readFileSync(file);
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
