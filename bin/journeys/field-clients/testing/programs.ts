/** Finds the Debian clients and their files, unpacked by the set-up or installed on the machine. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';

/** Tests, and the commands that they start, run in the folder of the clone. */
const unpacked = resolve('.fleetbed/field-clients');

/** Returns the path of a program. @throws Error with a remedy when the program is missing */
export function programPath(name: string): string {
  const folders = [join(unpacked, 'usr', 'bin'), ...(process.env.PATH ?? '').split(delimiter)];
  const path = folders.map((folder) => join(folder, name)).find(existsSync);
  if (path !== undefined) return path;
  throw new Error(`there is no ${name}: node bin/dev/setup.mjs --field-clients`);
}

/**
 * Returns the path of another file of the packages, such as
 * `usr/share/mender/modules/v3/single-file`.
 */
export function packageFile(name: string): string {
  const path = ['/', unpacked].map((root) => join(root, name)).find(existsSync);
  if (path !== undefined) return path;
  throw new Error(`there is no ${name}: node bin/dev/setup.mjs --field-clients`);
}

/**
 * Returns the environment variables with which the programs find libraries that the machine lacks.
 */
export function libraryEnvironment(): Readonly<Record<string, string>> {
  const folders = ['usr/lib', 'lib'].map((folder) => join(unpacked, folder, multiarch()));
  const present = folders.filter(existsSync);
  return present.length === 0 ? {} : { LD_LIBRARY_PATH: present.join(delimiter) };
}

/** Returns Debian's name of this architecture, which is part of the library folders. */
function multiarch(): string {
  return process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
}

/** A program that every user may run, and its environment variables. */
interface SharedProgram {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Copies a program and its unpacked libraries into the folder, because an unprivileged user may not
 * be able to read the original location.
 */
export function lendProgram(folder: string, name: string): SharedProgram {
  const source = programPath(name);
  const program = join(folder, name);
  const libraries = join(folder, 'libraries');
  mkdirSync(libraries, { recursive: true });
  copyFileSync(source, program);
  for (const library of librariesOf(source)) {
    if (library.startsWith(unpacked)) copyFileSync(library, join(libraries, basename(library)));
  }
  return { program, environment: { LD_LIBRARY_PATH: libraries } };
}

/**
 * Returns the paths of the libraries that a program loads.
 * @throws Error when a library is missing
 */
export function librariesOf(program: string): string[] {
  const { stdout } = spawnSync(programPath('ldd'), [program], {
    encoding: 'utf8',
    env: { ...process.env, ...libraryEnvironment() },
  });
  const missingLibrary = /(\S+) => not found/.exec(stdout)?.[1];
  if (missingLibrary !== undefined)
    throw new Error(`${program} needs ${missingLibrary}, which is not there`);
  return stdout.match(/\/\S+/g) ?? [];
}
