/** Copies the sources, for tests that add something to the project and check the effect. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiler = join(root, 'node_modules/typescript-native/bin/tsc');

/** A copy of some folders of the project, with its packages. */
export interface CopiedSources {
  readonly folder: string;
  readonly read: (path: string) => string;
  readonly write: (path: string, text: string) => void;
  /**
   * Returns the compiler's messages about these files and all files that they import; '' without
   * errors.
   */
  readonly errorsIn: (files: readonly string[]) => Promise<string>;
  readonly remove: () => void;
}

/** Copies these folders to a new temporary folder. */
export function copySources(folders: readonly string[]): CopiedSources {
  const folder = mkdtempSync(join(tmpdir(), 'fleetbed-copy-'));
  for (const name of [...folders, 'tsconfig.json', 'package.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);
  return {
    folder,
    write,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    errorsIn: async (files) => {
      const config = { extends: './tsconfig.json', compilerOptions: { composite: false }, files };
      write('tsconfig.copy.json', JSON.stringify({ ...config, include: [] }));
      const args = [compiler, '-p', 'tsconfig.copy.json', '--noEmit'];
      return promisify(execFile)(process.execPath, args, { cwd: folder }).then(
        () => '',
        (error: { readonly stdout: string }) => error.stdout,
      );
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
