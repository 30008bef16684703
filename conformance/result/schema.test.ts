import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { runAgainst } from '../testing/run-against.ts';
import { serve } from '../testing/stub-server.ts';
import { observationsOf } from './observations.ts';
import { ReportError, readReport, resultSchema } from './schema.ts';

/** The JSON Schema validator of the mutation tester, which shares no code with our schema. */
const ownModules = createRequire(import.meta.url);
const tester = createRequire(ownModules.resolve('@stryker-mutator/core/package.json'));
const Reader: new (
  options: object,
) => {
  compile(schema: object): { (value: unknown): boolean; errors?: unknown };
} = tester('ajv').default;

const check = new Reader({ strict: true, allErrors: true, strictTypes: false }).compile(
  resultSchema(),
);

const outcome = { verdict: 'fail', expected: 'status 400', actual: '204' } as const;
const failed = verdictOn(listCases()[0]?.id ?? '', outcome);
const whole = resultOf([failed], {
  openPoints: observationsOf([failed]),
  capabilities: [{ capability: 'monitor', declared: 'undeclared', probed: 'unknown' }],
  problems: [{ code: 'waiver-expired', text: 'It has expired.' }],
  waivers: [{ caseId: 'a/b', reason: 'r', owner: 'o', expires: '2027-01-01', state: 'used' }],
});

describe('the JSON Schema of a result', () => {
  it('accepts the result of a real run, and names all of its fields', async () => {
    const baseUrl = await serve((_, response) => response.writeHead(404).end('{"error":"no"}'));
    const result = await runAgainst(baseUrl, { selection: ['errors/', 'authentication/'] });
    expect(result.totals.fail).toBeGreaterThan(0);
    const written = JSON.stringify(result);
    const valid = check(JSON.parse(written));
    expect(check.errors ?? []).toEqual([]);
    expect(valid).toBe(true);
    // `readReport` drops all fields that the shape does not name.
    expect(readReport(written)).toEqual(JSON.parse(written));
  });

  it('accepts a result with capabilities, problems, waivers and open points', () => {
    expect(check(JSON.parse(JSON.stringify(whole)))).toBe(true);
    expect(readReport(JSON.stringify(whole))).toEqual(JSON.parse(JSON.stringify(whole)));
  });

  it.each<[string, (result: Record<string, unknown>) => void]>([
    ['another version', (result) => Object.assign(result, { schema: 'fleetbed-conformance/1' })],
    ['no seed', (result) => delete result.seed],
    ['a verdict of another name', (result) => Object.assign(result, { outcome: 'passed' })],
    ['a count below zero', (result) => Object.assign(result, { durationMs: -1 })],
    ['no verdicts', (result) => Object.assign(result, { verdicts: null })],
  ])('refuses a result with %s', (_, change) => {
    const result = JSON.parse(JSON.stringify(whole));
    change(result);
    expect(check(result)).toBe(false);
    expect(() => readReport(JSON.stringify(result))).toThrow(ReportError);
  });

  it('accepts fields that a later version adds', () => {
    expect(check({ ...JSON.parse(JSON.stringify(whole)), later: 1 })).toBe(true);
  });
});

describe('a file that is not a conformance report', () => {
  it.each([
    ['', 'is not JSON'],
    ['{', 'is not JSON'],
    ['[]', 'is not a conformance report'],
    ['null', 'is not a conformance report'],
    ['{"fleet":1}', 'is not a conformance report'],
    [
      '{"schema":"fleetbed-conformance/3"}',
      'is a report of schema fleetbed-conformance/3; this version reads fleetbed-conformance/2',
    ],
    [
      JSON.stringify({ ...whole, verdicts: [{ ...failed, verdict: 'bad' }] }),
      'is a damaged report: verdicts.0.verdict is not ("fail" | "error" | "inconclusive" | "pass" | "observed" | "skip")',
    ],
  ])('is refused with the reason: %s', (json, message) => {
    expect(() => readReport(json)).toThrow(new ReportError(message));
  });
});
