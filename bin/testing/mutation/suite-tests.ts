/**
 * The suite as tests of mutants of the reference server. Each test runs one area against a fresh
 * server in this process, and fails when a result differs from the recorded result of the
 * unmodified server. The first server follows the contract, first for judging cases, then for
 * observations of open points; the other server uses dialects that some of the code exists for.
 * Only `npm run mutation` runs this file.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { listCases, runConformance } from '../../../conformance/conformance.ts';
import { type ComparedOutcome, kindOfChange } from '../../../conformance/result/compare.ts';
import { FastClock } from '../../../conformance/self-test/fast-clock.ts';
import { systemClock } from '../../../fixtures/base/clock.ts';
import { seededRandom } from '../../../fixtures/base/random.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../../server/server.ts';

/** A mutant suppresses many effects for which cases wait, so waits are eight times shorter. */
const clock = new FastClock(systemClock, 8);
/** Number of random sequences in each case that runs some. */
const SEQUENCES = 5;

const cases = listCases();
/** Returns the area of a case: the prefix of its ID. */
const areaOf = (id: string): string => id.slice(0, id.indexOf('/'));
/** The slowest areas run last, because earlier areas detect most mutants. */
const slowAreas = [
  'body-fields',
  'audit-log',
  'deployment-states',
  'artifacts',
  'authorization',
  'legal-forms',
  'model',
];
const areas = [...new Set(cases.map(({ id }) => areaOf(id)))].sort(
  (one, other) => slowAreas.indexOf(one) - slowAreas.indexOf(other),
);

/** Name of the area of all observing cases; the judging cases run by area. */
const openPoints = 'open points';
const idsOf = (area: string): ReadonlySet<string> => {
  const observing = cases.filter(({ level }) => level === 'may');
  const judging = cases.filter(({ id, level }) => areaOf(id) === area && level !== 'may');
  return new Set((area === openPoints ? observing : judging).map(({ id }) => id));
};

interface TestedServer {
  readonly name: string;
  /** Settings that differ from the default. */
  readonly settings: ServerOptions;
  /** The areas whose results reliably depend on these settings. */
  readonly areas: readonly string[];
}

const servers: readonly TestedServer[] = [
  { name: 'a server of the contract', settings: {}, areas: [...areas, openPoints] },
  {
    name: 'a server with dialects',
    settings: {
      dialects: new Set([
        'asynchronous-provisioning',
        'split-configuration',
        'top-level-control-map',
      ]),
      provisioningDelayMs: 3_600_000,
    },
    areas: ['configuration', 'next-deployment', 'update-control-map', openPoints],
  },
];

/** One area of the suite on one server. */
export interface SuiteTest {
  readonly id: string;
  readonly run: () => Promise<TestResult>;
}

interface TestResult {
  /** The first differing result, prefixed by its kind of change; '' without any. */
  readonly change: string;
  readonly elapsedMs: number;
}

/** All tests in running order. */
export const suiteTests: readonly SuiteTest[] = servers.flatMap(({ name, settings, areas: run }) =>
  run.map((area) => {
    const id = `${name}: ${area}`;
    return { id, run: () => timeTest(() => firstChange(id, settings, idsOf(area))) };
  }),
);

async function timeTest(measure: () => Promise<string>): Promise<TestResult> {
  const startedMs = systemClock.monotonicMs();
  const change = await measure();
  return { change, elapsedMs: systemClock.monotonicMs() - startedMs };
}

const recordsFolder = '.fleetbed/mutation/outcomes';
mkdirSync(recordsFolder, { recursive: true });

type Outcomes = Readonly<Record<string, ComparedOutcome>>;

async function firstChange(
  title: string,
  settings: ServerOptions,
  ids: ReadonlySet<string>,
): Promise<string> {
  const file = `${recordsFolder}/${title.replaceAll(/\W+/g, '-')}.json`;
  const server = await startServer({ port: 0, controlPort: 0, logLevel: 'silent', ...settings });
  try {
    if (!existsSync(file)) {
      const twice = [await runCases(server, title, ids), await runCases(server, title, ids)];
      writeFileSync(file, JSON.stringify(steady(twice)));
      return '';
    }
    const outcomes: Outcomes = JSON.parse(readFileSync(file, 'utf8'));
    let change = '';
    await runCases(server, title, ids, (id, outcome, enough) => {
      const earlierOutcome = outcomes[id];
      const kind = earlierOutcome && kindOfChange(earlierOutcome, outcome);
      if (kind === undefined || change !== '') return;
      change = `${kind}: ${id}: ${outcome.actual ?? outcome.observation ?? outcome.reason?.text}`;
      enough();
    });
    return change;
  } finally {
    await server.close();
  }
}

async function runCases(
  server: RunningServer,
  title: string,
  ids: ReadonlySet<string>,
  look: (id: string, outcome: ComparedOutcome, enough: () => void) => void = () => undefined,
): Promise<Outcomes> {
  const { baseUrl, headerPrefix, adminEmail: email, adminPassword: password } = server;
  const { controlUrl: url, controlToken: token } = server;
  const outcomes: Record<string, ComparedOutcome> = {};
  const enough = new AbortController();
  await runConformance({
    baseUrl,
    headerPrefix,
    credentials: { email, password },
    control: { url, token },
    ids,
    // Without probing, cases fail on a mutant that answers 404; with it, they would be skipped.
    probe: false,
    disruptive: true,
    jobs: 8,
    clock,
    random: seededRandom(title),
    model: { sequences: SEQUENCES },
    caseTimeLimitMs: 15_000,
    requestTimeLimitMs: 5000,
    signal: enough.signal,
    onVerdict: ({ id, verdict, actual, observation, reason }) => {
      if (enough.signal.aborted) return;
      outcomes[id] = {
        verdict,
        ...(actual !== undefined && { actual }),
        ...(observation !== undefined && { observation }),
        ...(reason !== undefined && { reason }),
      };
      look(id, outcomes[id], () => enough.abort());
    },
  });
  return outcomes;
}

/** Returns the outcomes that were equal in both runs. */
function steady([outcomes = {}, again = {}]: readonly Outcomes[]): Outcomes {
  return Object.fromEntries(
    Object.entries(outcomes).filter(([id, outcome]) => {
      const otherOutcome = again[id];
      return otherOutcome && kindOfChange(outcome, otherOutcome) === undefined;
    }),
  );
}
