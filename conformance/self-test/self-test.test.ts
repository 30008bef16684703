import { describe, expect, it } from 'vitest';
import { systemClock } from '../../fixtures/base/clock.ts';
import { seededRandom } from '../../fixtures/base/random.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../fixtures/contract/requirements/index.ts';
import type { CaseVerdict } from '../result/result.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { serve } from '../testing/stub-server.ts';
import { bodyBecomes, statusBecomes } from './alterations.ts';
import type { Alteration, Defect } from './defect.ts';
import { needsNoFix } from './judgement.ts';
import {
  isSuccessful,
  type MatrixRow,
  mustsWithoutDefect,
  mustsWithoutKill,
  runMatrix,
} from './matrix.ts';
import { matrixHtml } from './report/html.ts';
import { matrixText } from './report/text.ts';
import {
  casesAffectedBy,
  type RunRequest,
  runBaseline,
  runDefect,
  type SelfTestOptions,
} from './self-test.ts';

const paths = {
  configuration: operations['get-configuration'].path,
  audit: operations['list-audit-logs'].path,
};

/** A case of a small suite: the requested path, the expected response and its requirement. */
interface SmallCase {
  readonly id: string;
  readonly path: string;
  readonly wants: string;
  readonly names: RequirementId;
}

const smallCases: readonly SmallCase[] = [
  {
    id: 'configuration/set-by-user-is-read',
    path: paths.configuration,
    wants: '200 {"a":"1"}',
    names: 'configuration.set-by-user',
  },
  {
    id: 'errors/error-says-why',
    path: paths.configuration,
    wants: '200 {"a":"1"}',
    names: 'errors.says-why',
  },
  {
    id: 'audit-log/newest-comes-first',
    path: paths.audit,
    wants: '200 {"a":"1"}',
    names: 'audit.newest-first',
  },
];

async function verdictOf(each: SmallCase, baseUrl: string): Promise<CaseVerdict> {
  const response = await fetch(baseUrl + each.path);
  const actual = `${response.status} ${await response.text()}`;
  const verdict = actual === each.wants ? 'pass' : 'fail';
  const finding = verdict === 'pass' ? { verdict } : { verdict, expected: each.wants, actual };
  return verdictOn(each.id, finding as never, { requirements: [each.names] });
}

async function smallSuite(cases = smallCases): Promise<SelfTestOptions> {
  const baseUrl = await serve((_, response) => response.end('{"a":"1"}'));
  const target = { baseUrl, headerPrefix: 'X-SVC', userToken: '', close: async () => undefined };
  return {
    openTarget: async () => target,
    runSuite: async ({ baseUrl: proxied, ids, onVerdict }: RunRequest) => {
      const verdicts: CaseVerdict[] = [];
      for (const each of cases) {
        if (ids && !ids.has(each.id)) continue;
        const verdict = await verdictOf(each, proxied);
        verdicts.push(verdict);
        onVerdict?.(verdict);
      }
      return resultOf(verdicts);
    },
    clock: systemClock,
    random: seededRandom('self-test'),
  };
}

const defect: Defect = {
  id: 'configuration-is-empty',
  title: 'The configuration is always empty.',
  violates: ['configuration.set-by-user', 'errors.says-why'],
  operations: ['get-configuration'],
  alter: bodyBecomes(() => ({})),
};

async function rowFor(changes: Partial<Defect>, cases = smallCases): Promise<MatrixRow> {
  const options = await smallSuite(cases);
  const { affectedCases, named, failures } = await runBaseline(
    [{ ...defect, ...changes }],
    options,
  );
  const { rows } = await runMatrix({
    defects: [{ ...defect, ...changes }],
    affectedCases,
    named,
    baselineFailures: failures,
    workers: [(each, ids) => runDefect(each, ids, options)],
  });
  const [row] = rows;
  if (!row) throw new Error('the defect was not run');
  return row;
}

describe('the self-test run without a defect', () => {
  it('lists for each case the defects that would affect it', async () => {
    const both = [defect, { ...defect, id: 'other', operations: ['list-audit-logs'] as const }];
    const { affectedCases, failures } = await runBaseline(both, await smallSuite());
    expect(failures).toEqual([]);
    expect([...affectedCases].map(([id, called]) => [id, ...called])).toEqual([
      ['configuration/set-by-user-is-read', defect.id],
      ['errors/error-says-why', defect.id],
      ['audit-log/newest-comes-first', 'other'],
    ]);
  });

  it('assumes an effect if an alteration would send another request, and sends none', async () => {
    let sent = 0;
    const alter = (): Alteration => ({
      response: async (response, request, send) => {
        await send(request);
        sent += 1;
        return response;
      },
    });
    const { affectedCases } = await runBaseline([{ ...defect, alter }], await smallSuite());
    expect([...affectedCases.values()].map(({ size }) => size)).toEqual([1, 1, 0]);
    expect(sent).toBe(0);
  });

  it('counts every case as affected by a defect in shared preparation', async () => {
    const upload: Defect = { ...defect, operations: ['upload-artifact'] };
    const { affectedCases } = await runBaseline([upload], await smallSuite());
    expect(casesAffectedBy(upload, affectedCases).size).toBe(3);
  });

  it('lists the cases that fail without any defect', async () => {
    const wrong = smallCases.map((each) => ({ ...each, wants: '200 other' }));
    const { failures } = await runBaseline([defect], await smallSuite(wrong));
    expect(failures).toHaveLength(3);
  });
});

describe('a planted defect', () => {
  it('is killed by failed cases that name a violated requirement', async () => {
    const row = await rowFor({});
    expect(row.outcome).toBe('killed');
    expect(row.killedBy).toEqual(['configuration/set-by-user-is-read', 'errors/error-says-why']);
    expect(needsNoFix(row)).toBe(true);
  });

  it('is run only against cases that call its operations', async () => {
    expect(await rowFor({})).toMatchObject({ casesRun: 2, untouched: 1 });
    expect(await rowFor({ operations: 'all' })).toMatchObject({ casesRun: 3, untouched: 0 });
  });

  it('survives when no case fails', async () => {
    const row = await rowFor({ alter: bodyBecomes(() => ({ a: '1', b: '2' })) }, [
      { ...smallCases[0], wants: '200 {"a":"1","b":"2"}' } as SmallCase,
    ]);
    expect(row).toMatchObject({ outcome: 'survived', killedBy: [], changes: 1 });
    expect(needsNoFix(row)).toBe(false);
  });

  it('is unexercised when no response was ever changed', async () => {
    const row = await rowFor({ alter: statusBecomes(409, 204) });
    expect(row).toMatchObject({ outcome: 'unexercised', casesRun: 0, changes: 0 });
    expect(needsNoFix(row)).toBe(false);
    const notRun = await rowFor({ operations: ['connect'] });
    expect(notRun).toMatchObject({ outcome: 'unexercised', casesRun: 0, untouched: 3 });
  });

  it('has a false failure when a case fails that names no violated requirement', async () => {
    const row = await rowFor({ violates: ['configuration.set-by-user'] });
    expect(row.outcome).toBe('killed');
    expect(row.falseFailures).toEqual([
      {
        caseId: 'errors/error-says-why',
        requirements: ['errors.says-why'],
        expected: '200 {"a":"1"}',
        actual: '200 {}',
      },
    ]);
    expect(needsNoFix(row)).toBe(false);
  });

  it('has no false failure if it does not occur in a second run', async () => {
    let runs = 0;
    const options = await smallSuite();
    const runSuite: SelfTestOptions['runSuite'] = async (request) => {
      runs += 1;
      const result = await options.runSuite(request);
      if (runs === 1) return result;
      const verdicts = result.verdicts.map((each) => ({ ...each, verdict: 'pass' as const }));
      return { ...result, verdicts };
    };
    const ids = new Set(smallCases.map(({ id }) => id));
    const narrow: Defect = { ...defect, violates: ['configuration.set-by-user'] };
    const result = await runDefect(narrow, ids, { ...options, runSuite });
    expect(result).toMatchObject({ outcome: 'killed', falseFailures: [] });
    expect(runs).toBe(2);
  });

  it('has no error of the suite if it does not occur in a second run', async () => {
    let runs = 0;
    const options = await smallSuite();
    const runSuite: SelfTestOptions['runSuite'] = async (request) => {
      runs += 1;
      const result = await options.runSuite(request);
      if (runs > 1) return result;
      const verdicts = result.verdicts.map((each, index) =>
        index === 0 ? { ...each, verdict: 'error' as const } : each,
      );
      return { ...result, verdicts };
    };
    const ids = new Set(smallCases.map(({ id }) => id));
    const result = await runDefect(defect, ids, { ...options, runSuite });
    expect(result?.suiteErrors).toEqual([]);
    expect(runs).toBe(2);
  });

  it('must remain unobserved if it is declared unobservable', async () => {
    const reason = { equivalent: 'white space says nothing' };
    const unseen = await rowFor({ ...reason, alter: statusBecomes(200, 200) });
    expect([unseen.outcome, needsNoFix(unseen)]).toEqual(['equivalent', true]);
    const seen = await rowFor(reason);
    expect([seen.outcome, needsNoFix(seen)]).toEqual(['stale-reason', false]);
  });

  it('starts with fresh state in each run', async () => {
    let made = 0;
    const alter = (): Alteration => {
      made += 1;
      return {};
    };
    await rowFor({ alter });
    await rowFor({ alter });
    // Each run makes two alterations: one for the probe and one for the active defect.
    expect(made).toBe(4);
  });
});

describe('the violated requirements of a failed case', () => {
  it('replace the requirements that the case names', async () => {
    const options = await smallSuite();
    const runSuite: SelfTestOptions['runSuite'] = async (request) => {
      const { verdicts, ...rest } = await options.runSuite(request);
      const violated: RequirementId[] = ['audit.total'];
      return { ...rest, verdicts: verdicts.map((verdict) => ({ ...verdict, violated })) };
    };
    const ids = new Set(smallCases.map(({ id }) => id));
    const result = await runDefect(defect, ids, { ...options, runSuite });
    expect(result).toMatchObject({ outcome: 'survived', killedBy: [] });
    expect(result?.falseFailures.map(({ requirements }) => requirements)).toEqual([
      ['audit.total'],
      ['audit.total'],
    ]);
  });
});

describe('a kill matrix', () => {
  async function matrixOf(defects: readonly Defect[], signal?: AbortSignal) {
    const options = { ...(await smallSuite()), ...(signal && { signal }) };
    const { affectedCases, named, failures } = await runBaseline(defects, options);
    const runOf = (each: Defect, ids: ReadonlySet<string>) => runDefect(each, ids, options);
    return runMatrix({
      defects,
      affectedCases,
      named,
      baselineFailures: failures,
      workers: [runOf, runOf],
      ...(signal && { signal }),
    });
  }

  const survivor: Defect = { ...defect, id: 'nobody-sees', alter: statusBecomes(204, 200) };

  it('is successful when every defect is killed, and keeps the order of the defects', async () => {
    const matrix = await matrixOf([defect, { ...defect, id: 'another' }]);
    expect(matrix.rows.map(({ id }) => id)).toEqual(['configuration-is-empty', 'another']);
    expect(matrix.totals).toMatchObject({ defects: 2, killed: 2, casesRun: 4, untouched: 2 });
    expect(isSuccessful(matrix)).toBe(true);
  });

  it('is unsuccessful when a defect survives or was not exercised', async () => {
    const matrix = await matrixOf([defect, survivor]);
    expect(matrix.totals).toMatchObject({ killed: 1, unexercised: 1 });
    expect(isSuccessful(matrix)).toBe(false);
  });

  it('is unsuccessful with failures without a defect, and after an interruption', async () => {
    const matrix = await matrixOf([defect]);
    expect(isSuccessful({ ...matrix, baselineFailures: ['errors/error-says-why'] })).toBe(false);
    const ended = AbortSignal.abort();
    const interrupted = await matrixOf([defect], ended);
    expect(interrupted).toMatchObject({ interrupted: true, rows: [] });
    expect(isSuccessful(interrupted)).toBe(false);
  });

  it('lists the MUSTs that no defect violates', () => {
    const all = mustsWithoutDefect([]);
    expect(all).toContain('audit.total');
    expect(mustsWithoutDefect([{ ...defect, violates: ['audit.total'] }])).toEqual(
      all.filter((id) => id !== 'audit.total'),
    );
  });

  it('lists the MUSTs without a defect that was killed by their name', async () => {
    const row = await rowFor({ violates: ['configuration.set-by-user', 'audit.total'] });
    expect(row.proves).toEqual(['configuration.set-by-user']);
    expect(mustsWithoutKill([row])).toContain('audit.total');
    expect(mustsWithoutKill([row])).not.toContain('configuration.set-by-user');
  });

  it('is rendered with every defect, the killing cases and the figures', async () => {
    const matrix = await matrixOf([defect, survivor]);
    const text = matrixText(matrix, true);
    expect(text).toContain('2 defects: 1 killed, 0 survived, 1 not exercised');
    expect(text).toContain(
      'configuration.set-by-user: 1 of 2 defects killed, 1 by a case that names it',
    );
    const page = matrixHtml(matrix, true);
    for (const { id } of [defect, survivor]) expect(page).toContain(id);
    expect(page).toContain('configuration/set-by-user-is-read');
    expect(page).toContain("default-src 'none'");
  });

  it('counts unviolated MUSTs for selected defects, and lists them for all defects', async () => {
    const matrix = await matrixOf([defect]);
    const counted = `not violated by any selected defect: ${matrix.untestedDuties.length} requirements`;
    expect(matrixText(matrix, false)).toContain(counted);
    expect(matrixText(matrix, false)).not.toContain('no defect violates');
    expect(matrixText(matrix, true)).toContain('! no defect violates audit.total');
    expect(matrixText(matrix, true)).not.toContain(counted);
    expect(matrixHtml(matrix, false)).not.toContain('no defect violates');
  });

  it('escapes markup in the title of a defect', async () => {
    const page = matrixHtml(await matrixOf([{ ...defect, title: '<img src=x> is sent.' }]), true);
    expect(page).toContain('&lt;img src=x&gt; is sent.');
    expect(page).not.toContain('<img');
  });
});
