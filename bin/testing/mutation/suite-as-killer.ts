/**
 * The suite as the killer of mutants, against servers that run in the same process, so that a mutant
 * in the server's code is seen. A mutant is caught when the suite tells another resource of it than of
 * the server as it is: of a server of the contract first, case by case, then what it observes of open
 * points; then of servers with our variants, which some of the code is for. Run by
 * `npm run mutation` only, whose first run, without mutants, records what is told.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCases, runConformance } from '../../../conformance/conformance.ts';
import { kindOfChange, type Outcome } from '../../../conformance/result/compare.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { seededRandom } from '../../../fixtures/random.ts';
import type { ServerOptions } from '../../../server/server.ts';

const cases = listCases();
/** What a case's id begins with. */
const areaOf = (id: string): string => id.slice(0, id.indexOf('/'));
/** The area that takes longest comes last: most mutants are killed before it. */
const areas = [...new Set(cases.map(({ id }) => areaOf(id)))].sort(
  (one, other) => Number(one === 'model') - Number(other === 'model'),
);

/** What is played of an area judges; what observes is played apart. */
const openPoints = 'open points';
const idsOf = (area: string): ReadonlySet<string> => {
  const observing = cases.filter(({ level }) => level === 'may');
  const judging = cases.filter(({ id, level }) => areaOf(id) === area && level !== 'may');
  return new Set((area === openPoints ? observing : judging).map(({ id }) => id));
};

interface KillingServer {
  /** What is not as usual. */
  readonly settings: ServerOptions;
  /** In which areas that shows, and steadily. */
  readonly areas: readonly string[];
}

const servers: Readonly<Record<string, KillingServer>> = {
  'a server of the contract': { settings: {}, areas: [...areas, openPoints] },
  'a server with variants': {
    settings: {
      variants: new Set([
        'asynchronous-provisioning',
        'split-configuration',
        'top-level-control-map',
      ]),
      provisioningDelayMs: 3_600_000,
    },
    areas: ['configuration', 'next-deployment', 'update-control-map', openPoints],
  },
  'a server that accepts': { settings: { autoAccept: true }, areas: ['authentication'] },
};

const recordsFolder = '.fleetbed/mutation/told';
mkdirSync(recordsFolder, { recursive: true });

describe.each(Object.entries(servers))('%s', (name, { settings, areas: played }) => {
  /** Each test waits for it, so that a mutant with which no server starts fails the tests. */
  const starting = import('../../../server/server.ts').then(({ startServer }) =>
    startServer({ port: 0, controlPort: 0, logLevel: 'silent', ...settings }),
  );
  /** What runs while the server loads belongs to no single test. */
  beforeAll(() => starting.then(String, String));
  afterAll(async () => (await starting).close());

  it.each(played)('%s', async (area) => {
    await expectTheSame(`${name} ${area}`, idsOf(area));
  });

  async function expectTheSame(title: string, ids: ReadonlySet<string>): Promise<void> {
    const file = `${recordsFolder}/${title.replaceAll(' ', '-')}.json`;
    if (!existsSync(file)) {
      const twice = [await play(title, ids), await play(title, ids)];
      writeFileSync(file, JSON.stringify(steady(twice)));
      return;
    }
    const told: Told = JSON.parse(readFileSync(file, 'utf8'));
    let change = '';
    await play(title, ids, (id, outcome, enough) => {
      const before = told[id];
      const kind = before && kindOfChange(before, outcome);
      if (kind === undefined) return;
      change = `${kind}: ${id}: ${outcome.actual ?? outcome.observation}`;
      enough();
    });
    expect(change).toBe('');
  }

  async function play(
    title: string,
    ids: ReadonlySet<string>,
    look: (id: string, outcome: Outcome, enough: () => void) => void = () => undefined,
  ): Promise<Told> {
    const server = await starting;
    const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
    const { controlUrl: url, controlToken: token } = server;
    const told: Record<string, Outcome> = {};
    const enough = new AbortController();
    await runConformance({
      baseUrl,
      headerPrefix,
      credentials: { email, password },
      control: { url, token },
      ids,
      // A mutant that answers 404 must fail its cases, not skip them.
      probe: false,
      disruptive: true,
      jobs: 8,
      clock: systemClock,
      random: seededRandom(title),
      caseTimeLimitMs: 15_000,
      requestTimeLimitMs: 5000,
      signal: enough.signal,
      onVerdict: ({ id, verdict, actual, observation, reason }) => {
        if (enough.signal.aborted) return;
        told[id] = {
          verdict,
          ...(actual !== undefined && { actual }),
          ...(observation !== undefined && { observation }),
          ...(reason !== undefined && { reason }),
        };
        look(id, told[id], () => enough.abort());
      },
    });
    return told;
  }
});

type Told = Readonly<Record<string, Outcome>>;

/** What was told alike each time. */
function steady([told = {}, again = {}]: readonly Told[]): Told {
  return Object.fromEntries(
    Object.entries(told).filter(([id, outcome]) => {
      const other = again[id];
      return other && kindOfChange(outcome, other) === undefined;
    }),
  );
}
