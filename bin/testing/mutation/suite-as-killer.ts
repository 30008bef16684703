/**
 * Runs the suite as the killer of mutants, against servers in the same process, so that mutated
 * server code is executed. A mutant is caught when the suite's results differ from those of the
 * unmodified server: first a server of the contract, case by case, then its observations of open
 * points, then servers with our variants, which some of the code is for. Only run by `npm run
 * mutation`, whose first run, without mutants, records the expected results.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listCases, runConformance } from '../../../conformance/conformance.ts';
import { kindOfChange, type Outcome } from '../../../conformance/result/compare.ts';
import { systemClock } from '../../../fixtures/clock.ts';
import { seededRandom } from '../../../fixtures/random.ts';
import type { ServerOptions } from '../../../server/server.ts';

const cases = listCases();
/** The prefix of a case's ID. */
const areaOf = (id: string): string => id.slice(0, id.indexOf('/'));
/** The slowest area comes last: most mutants are killed before it. */
const areas = [...new Set(cases.map(({ id }) => areaOf(id)))].sort(
  (one, other) => Number(one === 'model') - Number(other === 'model'),
);

/** Judging cases run by area; observing cases run separately. */
const openPoints = 'open points';
const idsOf = (area: string): ReadonlySet<string> => {
  const observing = cases.filter(({ level }) => level === 'may');
  const judging = cases.filter(({ id, level }) => areaOf(id) === area && level !== 'may');
  return new Set((area === openPoints ? observing : judging).map(({ id }) => id));
};

interface KillingServer {
  /** Settings that differ from the default. */
  readonly settings: ServerOptions;
  /** The areas in which the difference shows, and shows reliably. */
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
  /**
   * Each test awaits it, so that a mutant that prevents the server from starting fails the tests.
   */
  const starting = import('../../../server/server.ts').then(({ startServer }) =>
    startServer({ port: 0, controlPort: 0, logLevel: 'silent', ...settings }),
  );
  /** Code that runs while the server loads belongs to no single test. */
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

/** Returns the results that were the same each time. */
function steady([told = {}, again = {}]: readonly Told[]): Told {
  return Object.fromEntries(
    Object.entries(told).filter(([id, outcome]) => {
      const other = again[id];
      return other && kindOfChange(outcome, other) === undefined;
    }),
  );
}
