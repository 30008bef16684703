import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../fixtures/base/clock.ts';
import { startTestServer, type TestServer } from './testing/test-server.ts';
import { control } from './testing/test-tenants.ts';

const RUN_MAX_MS = 15_000;
const LINES_MAX = 18;
const COLUMNS_MAX = 100;

interface Recipe {
  readonly title: string;
  readonly block: string;
  /** The start option `--variation-seed`, for recipes that need it. */
  readonly varySeed?: string;
}

const page = readFileSync(new URL('recipes.md', import.meta.url), 'utf8');
const sections = page.split(/^(?=##)/m);
const prelude = blockOf(
  sections.find((section) => section.startsWith('## Before each block')) ?? '',
);
const recipes = sections.filter((section) => section.startsWith('### ')).map(recipeOf);

function blockOf(section: string): string {
  return /^```sh\n(.*?)^```$/ms.exec(section)?.[1] ?? '';
}

function recipeOf(section: string): Recipe {
  const title = section.slice('### '.length, section.indexOf('\n'));
  const varySeed = /--variation-seed (\w+)/.exec(section)?.[1];
  return { title, block: blockOf(section), ...(varySeed !== undefined && { varySeed }) };
}

const artifactFiles = ['version', 'manifest', 'header.tar.gz', 'data/0000.tar.gz'];

/** The lines that each block prints. */
const expectedOutput: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'a token that expires': ['200', '401', '200', '200'],
  'a link that expires between two ranges': ['200', '206', '403', '200', '206', ...artifactFiles],
  'the day on which a call is retired': [
    '200',
    '200',
    'Wed, 25 Aug 2027 00:00:00 GMT',
    '410',
    '</api/management/v2/deployments/deployments>; rel="successor-version"',
  ],
  'a response that is lost after its report was accepted': [
    '200',
    '204',
    '000, curl 56',
    '200',
    '1',
    '204',
  ],
  'a gateway that answers in place of the server': [
    '502',
    '<h1>502 Bad Gateway</h1>',
    '401',
    '200',
  ],
  'a rate limit': ['200', '200', '429', '200'],
  'an invalid Retry-After': [
    '429',
    '999999999999999999999',
    '429',
    /^\w{3}, \d\d \w{3} \d{4} .* GMT$/,
    '429',
    '200',
  ],
  'a server whose responses are written differently, but validly': [
    '200',
    /^request-ids, [a-z, -]+$/,
    /^Contract, Error: /,
  ],
  'a refusal of its signature': ['401', 'digest-with-ed25519', /^Pass the body itself to Ed25519/],
  'a download that is cut off': ['200', '200, curl 18', '206', ...artifactFiles],
  'a file that changes between two ranges': ['200', '206', '200', '"changed-by-a-planned-fault"'],
  'a file with wrong bytes': [
    '200',
    '200',
    '200',
    /^first.mender answer differ: (char|byte) 601/,
    '204',
  ],
  'an abort while it downloads': ['200', '204', '409', '204'],
  'an update that a user pauses': [
    '201',
    '200',
    'pause',
    '204',
    '204',
    '200',
    'continue',
    '204',
    '404',
  ],
  'a WebSocket that is refused, and one that drops': ['503', '101, curl 56'],
  'a test that does not sleep': [
    '200',
    '204',
    '204',
    'device worker did: report success after report installing, once.',
  ],
  'another test on the same server': ['200', '401'],
  'the same state again and again': ['200', '204', '204', '204', '204', '404'],
};

let folder: string;
let server: TestServer;
let varied: TestServer;

beforeAll(async () => {
  const varySeed = recipes.find((recipe) => recipe.varySeed)?.varySeed ?? '';
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-recipes-'));
  server = await startTestServer({ clock: systemClock });
  varied = await startTestServer({ clock: systemClock, variationSeed: varySeed });
});

// A recipe that stops half-way may leave tenants behind.
afterEach(() => control(server, 'DELETE', '/tenants'));

afterAll(async () => {
  await Promise.all([server.close(), varied.close()]);
  rmSync(folder, { recursive: true });
});

interface Outcome {
  readonly code: unknown;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** Runs a block as a reader would, after the page's prelude and in the plainest shell. */
async function run({ block, varySeed }: Recipe, environment = {}): Promise<Outcome> {
  const { baseUrl, controlUrl, controlToken, adminToken } = varySeed ? varied : server;
  const child = spawn('sh', ['-c', `${prelude}\n${block}`], {
    timeout: RUN_MAX_MS,
    env: {
      PATH: process.env.PATH,
      TMPDIR: folder,
      URL: baseUrl,
      CONTROL: controlUrl,
      CONTROL_TOKEN: controlToken,
      ADMIN_TOKEN: adminToken,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, lines: stdout.split('\n').slice(0, -1), stderr };
}

const expectations = /\b(as_device|as_user|sees|report|send_auth_request|connect) ('[^']+'|\d{3})/g;

/** Returns the recipe with a last expected status that its client never sees. */
function disappointed(recipe: Recipe): Recipe {
  const last = [...recipe.block.matchAll(expectations)].at(-1);
  const [found = '', call] = last ?? [];
  const { block } = recipe;
  const [before, after] = [
    block.slice(0, last?.index),
    block.slice((last?.index ?? 0) + found.length),
  ];
  return { ...recipe, block: `${before}${call} 299${after}` };
}

const titled = recipes.map((recipe) => [recipe.title, recipe] as const);

describe('the page of recipes', () => {
  it('has at least ten recipes and exactly one test for each', () => {
    const titles = Object.keys(expectedOutput).map((title) => `My client meets ${title}`);
    expect(recipes.map(({ title }) => title)).toEqual(titles);
    expect(recipes.length).toBeGreaterThanOrEqual(10);
  });

  it.each(titled)('has short recipes that wait for nothing: %s', (_, { block }) => {
    const lines = block.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(LINES_MAX);
    expect(lines.filter((line) => line.length > COLUMNS_MAX)).toEqual([]);
    expect(block).not.toMatch(/\bsleep\b|\bjq\b|set \+e/);
  });
});

describe('a recipe of the page', () => {
  it.each(titled)('prints the documented lines: %s', async (title, recipe) => {
    const wanted = expectedOutput[title.replace('My client meets ', '')] ?? [];
    const patterns = wanted.map((line) =>
      typeof line === 'string' ? line : expect.stringMatching(line),
    );
    expect(await run(recipe)).toEqual({ code: 0, stderr: '', lines: patterns });
  });

  it.each(titled)('fails when its client sees another status: %s', async (_, recipe) => {
    const { code, stderr } = await run(disappointed(recipe));
    expect([code, stderr]).toEqual([1, expect.stringContaining('not 299: ')]);
  });

  it.each(titled)(
    'stops before its client acts when the control token is wrong: %s',
    async (_, recipe) => {
      const { code, lines, stderr } = await run(recipe, { CONTROL_TOKEN: 'wrong' });
      expect([code, lines]).toEqual([expect.any(Number), []]);
      expect(code).not.toBe(0);
      expect(stderr).toContain('401');
    },
  );
});
