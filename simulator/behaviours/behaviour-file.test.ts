import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { simulateFleet } from '../engine/simulate-fleet.ts';
import { FakeServer } from '../testing/fake-server.ts';
import { planWith } from '../testing/plan-with.ts';
import { closedPortUrl } from '../testing/stub-server.ts';
import { BehaviourFileError, nodeReadsTypeScript, readBehaviourFile } from './behaviour-file.ts';
import { behaviours } from './catalogue.ts';
import example from './example.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
let folder: string;
let files = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'fleetbed-behaviours-'));
});

/** Names to restore the catalogue to after these tests, because other test files share it. */
const shipped = new Set(behaviours.keys());

afterAll(() => {
  rmSync(folder, { recursive: true });
  const known = behaviours as Map<string, unknown>;
  for (const name of known.keys()) if (!shipped.has(name)) known.delete(name);
});

/** Writes a file under a name that no other test uses. */
function written(text: string, ending = '.mjs'): string {
  const path = join(folder, `file-${++files}${ending}`);
  writeFileSync(path, text);
  return path;
}

const row = (change = '', name = `mine-${files + 1}`) => `export default {
  name: '${name}', description: 'A device of mine.', expectedServerBehaviour: 'Takes it as it is.',
  parameters: { installMs: 10, rebootMs: 10 }, hooks: {}, ${change} };`;

async function refusal(path: string, readsTypeScript?: boolean): Promise<string> {
  const error = await readBehaviourFile(path, readsTypeScript).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(BehaviourFileError);
  const { message } = error as BehaviourFileError;
  expect(message.split('\n')).toHaveLength(1);
  return message.replace(path, 'FILE');
}

describe('a behaviour file', () => {
  it('adds its behaviour to the catalogue, and is read only once', async () => {
    const path = written(row('', 'my-own'));
    await readBehaviourFile(path);
    await readBehaviourFile(path);
    expect(behaviours.get('my-own')).toMatchObject({ description: 'A device of mine.' });
  });

  it('can contain several behaviours', async () => {
    const one = row('', 'one-of-two').replace(/^export default |;$/g, '');
    const path = written(`export default [${one}, ${one.replace('one-of-two', 'two-of-two')}];`);
    expect((await readBehaviourFile(path)).map(({ name }) => name)).toEqual([
      'one-of-two',
      'two-of-two',
    ]);
  });

  it.each([
    ['is not there', () => join(folder, 'none.mjs'), /cannot be read: .*none\.mjs/],
    [
      'is not JavaScript',
      () => written('export default {'),
      /cannot be read: .*(Unexpected|parse)/,
    ],
    ['throws', () => written("throw new Error('no luck\\nat all')"), /cannot be read: no luck$/],
    ['has no default export', () => written('export const a = 1;'), /no default export/],
    ['exports a string', () => written("export default 'slow';"), /must be a behaviour: name/],
    ['has another ending', () => written(row(), '.json'), /must end in one of \.js, \.mjs, \.ts/],
    [
      'lacks a sentence',
      () => written(row('expectedServerBehaviour: undefined')),
      /expectedServerBehaviour is missing/,
    ],
    [
      'has a name with spaces',
      () => written(row("name: 'My own'")),
      /name must be lower-case letters/,
    ],
    ['has a word too many', () => written(row('speed: 1')), /speed is not known/],
    [
      'has a hook that nobody calls',
      () => written(row('hooks: { whenBored() {} }')),
      /hooks\.whenBored is not known/,
    ],
    [
      'has a hook that is not a function',
      () => written(row('hooks: { network: 3 }')),
      /hooks\.network must be a function/,
    ],
    [
      'has a number without a unit',
      () => written(row('parameters: { installMs: 1, rebootMs: 1, speed: 3 }')),
      /parameters\.speed must end in its unit: Ms, /,
    ],
    [
      'has a number out of bounds',
      () => written(row('parameters: { installMs: -1, rebootMs: 1 }')),
      /parameters\.installMs must be a whole number from 0 to/,
    ],
    [
      'takes a name that is taken',
      () => written(row('', 'steady')),
      /another behaviour is already called steady/,
    ],
  ])('is refused with one sentence when it %s', async (_what, path, sentence) => {
    expect(await refusal(path())).toMatch(sentence);
  });

  it('requires for TypeScript a Node version that reads it, which the error names', async () => {
    expect(nodeReadsTypeScript).toBe(
      Boolean((process.features as { typescript?: unknown }).typescript),
    );
    expect(await refusal(here('example.ts'), false)).toMatch(
      /^the behaviour file FILE: Node \S+ does not read TypeScript; use Node 22\.18 or newer, or /,
    );
    expect(await refusal(written(row(), '.mts'), false)).toMatch(/does not read TypeScript/);
  });

  it('ends the run with one sentence when a hook returns an invalid value', async () => {
    const broken = row('hooks: { nextCycleMs: () => "soon" }', 'broken-hook');
    const environment = await FakeServer.start();
    const path = written(broken);
    const run = simulateFleet(plan(environment.server.baseUrl, path, 'broken-hook'), {
      clock: systemClock,
      signal: new AbortController().signal,
    });
    await expect(run).rejects.toThrow(
      `${path}: broken-hook.hooks.nextCycleMs threw: it must return a number, not soon`,
    );
    await environment.server.close();
  });

  it('is refused before the simulator sends any request to the server', async () => {
    const path = written('export default 7;');
    const run = simulateFleet(plan(await closedPortUrl(), path, 'steady'), {
      clock: systemClock,
      signal: new AbortController().signal,
    });
    await expect(run).rejects.toBeInstanceOf(BehaviourFileError);
  });
});

describe('the example of a behaviour file', () => {
  it('is the same in JavaScript and TypeScript', async () => {
    const { default: inJavaScript } = (await import('./example.mjs' as string)) as {
      default: typeof example;
    };
    expect({ ...inJavaScript, hooks: undefined }).toEqual({ ...example, hooks: undefined });
    const text = (hooks: object) =>
      Object.entries(hooks).map((entry) => String(entry).replace(/\s+/g, ' ').replaceAll("'", '"'));
    expect(text(inJavaScript.hooks)).toEqual(text(example.hooks));
  });

  it('runs in a fleet when it is loaded from its file', async () => {
    const environment = await FakeServer.start();
    let offered = 0;
    const result = await simulateFleet(
      {
        ...plan(environment.server.baseUrl, here('example.mjs'), example.name),
        devices: 6,
        behaviourParameters: { [example.name]: { warmUpMs: 50, installMs: 10, rebootMs: 10 } },
        acceptWith: { email: 'admin@example.com', password: 'secret' },
        deploy: 'release-2',
        deviceType: 'board',
        until: 'settled',
      },
      {
        clock: systemClock,
        signal: new AbortController().signal,
        onEvent: (event) => {
          if (event.kind === 'update' && event.state === 'offered') offered++;
        },
      },
    );
    expect(result.funnel).toMatchObject({ devices: 6, success: 6 });
    // Some of the six devices were cold and began the update twice; the others began it once.
    expect(offered).toBeGreaterThan(6);
    expect(offered).toBeLessThan(12);
    await environment.server.close();
  });
});

function plan(baseUrl: string, path: string, behaviour: string) {
  return planWith({
    baseUrl,
    devices: 1,
    pollIntervalMs: 50,
    behaviours: [{ name: behaviour, weight: 1 }],
    behaviourFiles: [path],
    durationMs: 10_000,
    acceptWith: { email: 'admin@example.com', password: 'secret' },
  });
}
