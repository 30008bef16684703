/** External programs that some tests need, and the test files that are skipped without them. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface TestTool {
  readonly isThere: boolean;
  readonly files: readonly string[];
  /**
   * The option of `bin/dev/setup.mjs` that installs the tool, or prints instructions if it cannot.
   */
  readonly option: string;
}

const unpackedIn = (folder: string): string =>
  fileURLToPath(new URL(`../../.fleetbed/${folder}/usr/bin`, import.meta.url));

function isFound(program: string, folder: string): boolean {
  return existsSync(join(unpackedIn(folder), program)) || hasProgram(program);
}

/** Returns true when a program is in a folder of the search path. */
export function hasProgram(program: string): boolean {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)));
}

/** Folders in which the compiler looks for libcurl's headers; those that exist. */
export const headerFolders: readonly string[] = [
  '/usr/include',
  fileURLToPath(new URL('../../.fleetbed/libcurl/usr/include', import.meta.url)),
]
  .flatMap((folder) => [
    folder,
    ...['x86_64', 'aarch64'].map((cpu) => `${folder}/${cpu}-linux-gnu`),
  ])
  .filter((folder) => existsSync(join(folder, 'curl', 'curl.h')));

const { CHROMIUM_PATH: chromium = '/usr/bin/chromium', REDIS_SERVER_PATH: redis } = process.env;
const fieldClients = ['mender', 'mender-connect', 'mender-artifact', 'dbus-daemon'];

/** Every such program, by its display name. */
export const testTools: Readonly<Record<string, TestTool>> = {
  Chromium: {
    isThere: existsSync(chromium),
    files: [
      'server/console/*.test.ts',
      'bin/journeys/console-sections.full.test.ts',
      '**/report/html.full.test.ts',
    ],
    option: '--browser',
  },
  "Debian's field clients": {
    isThere: fieldClients.every((program) => isFound(program, 'field-clients')),
    files: ['bin/journeys/field-clients/*.test.ts'],
    option: '--field-clients',
  },
  'The development files of libcurl': {
    isThere: headerFolders.length > 0,
    files: ['bin/journeys/example-client-in-c.nightly.test.ts'],
    option: '--libcurl',
  },
  Redis: {
    isThere: redis ? existsSync(redis) : isFound('redis-server', 'redis'),
    files: ['bin/commands/worker/*.full.test.ts'],
    option: '--redis',
  },
};
