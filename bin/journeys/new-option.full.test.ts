import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CopiedSources, copySources } from '../testing/copied-sources.ts';

const BUILD_MAX_MS = 120_000;
const row = `
  motto: {
    flag: '--motto <text>',
    help: 'sentence that the server is started with',
    cli: { kind: 'text' },
    default: { value: 'none' },
    problem: (motto: string) => (motto === 'no' ? 'a motto says more than "no"' : undefined),
  },
`;

let copy: CopiedSources;

beforeEach(() => {
  copy = copySources(['bin', 'conformance', 'fixtures', 'server', 'simulator']);
});

afterEach(() => copy.remove());

const bundling =
  "import { bundle } from './bin/dev/bundle.mjs'; await bundle(process.cwd(), [], new Set());";

const node = (...args: string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: copy.folder });

async function fleetbed(...args: string[]): Promise<string> {
  return node('dist/bin/fleetbed.js', ...args).then(
    ({ stdout }) => stdout,
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
}

describe('an added option of fleetbed serve', () => {
  it(
    'needs only one row of the settings for its types, help and checks',
    async () => {
      const settings = 'server/settings.ts';
      const location = "const listening = groupRows('Listening', {";
      copy.write(settings, copy.read(settings).replace(location, `${location}${row}`));
      expect(await copy.errorsIn(['bin/fleetbed.ts', 'bin/exports/testbed.ts'])).toBe('');
      await node('--input-type=module', '--eval', bundling);
      expect(await fleetbed('serve', '--help')).toMatch(
        /Listening:\n +--motto <text> +sentence that the server is started with/,
      );
      expect(await fleetbed('serve', '--motto', 'no')).toContain('a motto says more than "no"');
    },
    BUILD_MAX_MS,
  );
});
