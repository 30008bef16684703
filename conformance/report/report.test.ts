import { XMLParser } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import { withReproScript } from '../repro-script/repro-script.ts';
import type { CaseOutcome, CaseVerdict } from '../result/result.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { conformanceJunit } from './junit.ts';
import { caseList, conformanceReport, verdictLine } from './text.ts';

const exchange = {
  startMs: 0,
  request: { line: 'PUT http://host/status', headers: { accept: '*/*' }, body: '{"status":7}' },
  response: { status: 204, headers: {}, body: '\u001b[31mred\u001b[0m ]]> <b>&amp;\u0000' },
  elapsedMs: 3,
};

function verdictOf(id: string, outcome: CaseOutcome): CaseVerdict {
  return withReproScript(verdictOn(id, outcome, { exchanges: [exchange] }), {
    baseUrl: 'http://host',
  });
}

const verdicts = [
  verdictOf('deployment-status/missing-status-is-400', {
    verdict: 'fail',
    expected: 'status 400',
    actual: '204 without a body',
  }),
  verdictOf('errors/error-says-why', { verdict: 'fail', expected: 'a string', actual: 'none' }),
  verdictOf('authentication/first-contact-is-401', { verdict: 'pass' }),
  verdictOf('authentication/rsa-signature-is-accepted', {
    verdict: 'error',
    reason: { code: 'suite-error', text: 'TypeError: x' },
  }),
  verdictOf('connect/ping-gets-pong', {
    verdict: 'inconclusive',
    reason: { code: 'case-time-limit', text: 'too long' },
  }),
  verdictOf('deployment-log/empty-log', { verdict: 'observed', observation: 'answered with 400' }),
  verdictOf('faults/too-many-requests-is-429', {
    verdict: 'skip',
    reason: { code: 'rate-control', text: 'the target does not offer rate-control' },
  }),
];

const leftBehind = ['artifact conformance-release-1: it is in use'];
const result = resultOf(verdicts, { leftBehind });

describe('the text report of a run', () => {
  const text = conformanceReport(result);

  it('shows a failure with its requirement, both sides and the exchange', () => {
    expect(text).toContain(
      [
        '  deployment-status/missing-status-is-400',
        '    A report without a status is answered with 400.',
        '    requires  The sentence of status.is-required. [status.is-required]',
        '    expected  status 400',
        '    actual    204 without a body',
        '      > PUT http://host/status',
        '      > accept: */*',
        '      > {"status":7}',
        '      < 204',
      ].join('\n'),
    );
  });

  it('names the command that runs the repro script of a failure, and shows no script', () => {
    const scripts = new Map([['deployment-status/missing-status-is-400', "/tmp/it's/a.sh"]]);
    const named = conformanceReport(result, scripts);
    expect(named).toContain("    repro     bash '/tmp/it'\\''s/a.sh'\n");
    expect(named.match(/repro {2}/g)).toHaveLength(1);
    expect(named).not.toContain('curl');
  });

  it('shows keys and signatures only by their kind and length', () => {
    const pem = '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n';
    const request = {
      line: 'POST http://host/x',
      headers: { 'x-signature': `${'A1+/'.repeat(22)}==` },
      body: JSON.stringify({ pubkey: pem, digest: 'ab'.repeat(32) }),
    };
    const outcome = { verdict: 'fail', expected: 'status 400', actual: '204' } as const;
    const withExchange = { exchanges: [{ ...exchange, request }] };
    const report = conformanceReport(
      resultOf([verdictOn('errors/error-says-why', outcome, withExchange)]),
    );
    expect(report).toContain('> x-signature: <Base64, 90 characters>\n');
    expect(report).toContain(`> {"pubkey":"<PUBLIC KEY>","digest":"${'ab'.repeat(32)}"}`);
  });

  it('separates failed MUSTs from failed SHOULDs', () => {
    const must = text.indexOf('Failed: required by the contract (MUST)');
    const should = text.indexOf('Failed: expected by clients (SHOULD)');
    expect(text.indexOf('  deployment-status/missing-status-is-400')).toBeGreaterThan(must);
    expect(text.indexOf('errors/error-says-why')).toBeGreaterThan(should);
    expect(must).toBeLessThan(should);
  });

  it('lists every inconclusive case with the reason', () => {
    expect(text).toContain('connect/ping-gets-pong: too long [case-time-limit]');
    expect(text).toContain('faults/too-many-requests-is-429: ');
    expect(text).toContain('deployment-log/empty-log: answered with 400');
    expect(text).toContain('artifact conformance-release-1: it is in use');
  });

  it('ends with the counts and the outcome', () => {
    expect(text).toMatch(/7 cases in 1\.2 s: 2 fail, 1 error, 1 inconclusive, 1 pass/);
    const lines = text.split('\n');
    expect(lines[0]).toMatch(
      /^fail: 2 of 7 cases failed; first: deployment-status\/missing-status/,
    );
    expect(lines.at(-1)).toBe(lines[0]);
  });

  it('escapes the control characters of the target', () => {
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text).toContain('\\u{1b}[31mred');
  });
});

describe('a line of progress', () => {
  it('contains the verdict, the case and the outcome', () => {
    const [firstVerdict] = verdicts;
    expect(firstVerdict && verdictLine(firstVerdict)).toBe(
      'fail         deployment-status/missing-status-is-400: ' +
        'expected status 400, actual 204 without a body',
    );
  });
});

describe('the list of cases', () => {
  const lines = caseList(listCases()).split('\n');

  it('shows each case with its conditions and its title', () => {
    expect(lines).toContain('  deployment-status/other-status-is-400 (must, write, needs user)');
    expect(lines).toContain(
      '      A status that a device may not report, such as aborted or pending, is answered with 400.',
    );
    expect(lines.at(-1)).toBe(`${listCases().length} cases`);
  });

  it('shows the start state once for each scenario', () => {
    const starts = lines.filter((line) => line.includes('from two devices that have been offered'));
    expect(starts.length).toBeGreaterThan(2);
    expect(new Set(starts).size).toBe(starts.length);
  });
});

describe('the JUnit report of a run', () => {
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '@' });
  const scripts = new Map([['deployment-status/missing-status-is-400', '/tmp/a.sh']]);
  const { testsuites } = parser.parse(conformanceJunit(result, scripts));

  it('counts failures, errors and skipped cases, so that no CI counts them as passed', () => {
    expect(testsuites).toMatchObject({
      '@tests': '7',
      '@failures': '2',
      '@errors': '2',
      '@skipped': '1',
    });
  });

  it('shows the outcome and its reason at the top', () => {
    expect(testsuites['@name']).toMatch(
      /^fleetbed conformance 1: http:\/\/host: fail: 2 of 7 cases/,
    );
  });

  it('has a suite for each area, and a test with requirements for each case', () => {
    const names = testsuites.testsuite.map((suite: Record<string, unknown>) => suite['@name']);
    expect(names).toEqual([
      'deployment-status',
      'errors',
      'authentication',
      'connect',
      'deployment-log',
      'faults',
    ]);
    const { testcase } = testsuites.testsuite[0];
    expect(testcase['@name']).toMatch(/^deployment-status\/missing-status-is-400: A report/);
    expect(testcase.properties.property).toContainEqual({
      '@name': 'requirement',
      '@value': 'status.is-required',
    });
    expect(testcase.properties.property).toContainEqual({ '@name': 'effect', '@value': 'write' });
    expect(testsuites.testsuite[0].properties.property).toContainEqual({
      '@name': 'seed',
      '@value': 'a seed',
    });
    expect(testcase.failure['#text']).toMatch(/^repro: bash \/tmp\/a\.sh\n/);
    expect(testcase.failure['#text']).not.toContain('curl');
    expect(testcase.failure['@message']).toBe('expected status 400, actual 204 without a body');
  });

  it.each(['x', '&', '"', '\u00e9', '😀', '\u001b', '\n'])(
    'has at most 4 KB for each outcome, even of a target that answers with many %j',
    (character) => {
      const long = character.repeat(20_000);
      const response = { status: 200, headers: { long }, body: long };
      const withExchange = { exchanges: [{ ...exchange, response }] };
      const reason = { code: 'suite-error', text: long };
      const waiver = { reason: long, owner: 'Ada', expires: '2026-12-31' };
      const failed = { verdict: 'fail', expected: long, actual: long } as const;
      const xml = conformanceJunit(
        resultOf([
          verdictOn('deployment-status/missing-status-is-400', failed, withExchange),
          verdictOn('errors/error-says-why', failed, { ...withExchange, waiver }),
          verdictOn(
            'authentication/rsa-signature-is-accepted',
            { verdict: 'error', reason },
            withExchange,
          ),
          verdictOn('faults/too-many-requests-is-429', { verdict: 'skip', reason }),
          verdictOn('deployment-log/empty-log', { verdict: 'observed', observation: long }),
        ]),
      );
      const outcomes =
        xml.match(/<(failure|error|skipped|system-out)\b[\s\S]*?(\/>|<\/\1>)/g) ?? [];
      expect(outcomes).toHaveLength(5);
      for (const each of outcomes) expect(Buffer.byteLength(each)).toBeLessThanOrEqual(4096);
    },
  );

  it('remains well-formed XML whatever the target answers', () => {
    const { failure } = testsuites.testsuite[0].testcase;
    expect(failure['#text']).toContain('<b>');
    expect(conformanceJunit(result)).not.toMatch(/[^\P{Cc}\n\t]/u);
  });
});

describe('a violated SHOULD under --fail-on must', () => {
  const failure = { verdict: 'fail', expected: 'a label', actual: 'none' } as const;
  const tolerated = resultOf([verdictOn('service/json-is-labelled', failure, { tolerated: true })]);

  it('is reported with its evidence and skipped in JUnit', () => {
    expect(conformanceReport(tolerated)).toContain('Failed: expected by clients (SHOULD)');
    const xml = conformanceJunit(tolerated);
    expect(xml).toContain('failures="0"');
    expect(xml).toContain(
      '<skipped message="a SHOULD, which does not fail this run: expected a label, actual none"',
    );
  });
});

describe('a waived failure in the reports', () => {
  const waiver = { reason: 'ticket 7', owner: 'Ada', expires: '2026-12-31' };
  const failure = { verdict: 'fail', expected: 'a string', actual: 'none' } as const;
  const reason = { code: 'start-state-missed', text: 'the start state needs an error' };
  const follows = { ...waiver, follows: 'errors/error-says-why' };
  const waived = resultOf([
    verdictOn('errors/error-says-why', failure, { waiver }),
    verdictOn('errors/error-is-string', { verdict: 'inconclusive', reason }, { waiver: follows }),
  ]);

  it('is listed as waived with the owner, and with what follows from it', () => {
    const text = conformanceReport(waived);
    expect(text).toContain('\nWaived\n  errors/error-says-why: none [waived by Ada');
    expect(text).toMatch(
      /\n {2}errors\/error-is-string: the start .* 7; it follows from errors\/error-says-why\]\n/,
    );
    expect(text).toContain(
      '1 fail, 0 error, 1 inconclusive, 0 pass, 0 observed, 0 skip, 2 of these',
    );
    expect(text).not.toMatch(/\n(?:Failed|Inconclusive)/);
  });

  it('is skipped in JUnit, with the reason for the waiver', () => {
    const xml = conformanceJunit(waived);
    expect(xml).toContain(
      '<skipped message="waived by Ada until 2026-12-31: ticket 7; actual none"',
    );
    expect(xml).toMatch(/<testsuites tests="2" failures="0" errors="0" skipped="2"/);
    expect(xml).toContain('<property name="waived" value="2"');
    expect(xml).not.toMatch(/<failure|<error/);
  });
});

describe('a problem that fails a run besides its verdicts', () => {
  const problems = [{ code: 'must-undecided', text: 'x.y (MUST) was not tested: skip' }];
  const failed = resultOf([verdictOn('errors/error-says-why', { verdict: 'pass' })], { problems });

  it('is shown in the text and fails in JUnit', () => {
    expect(conformanceReport(failed)).toContain(
      'Other reasons why the run fails\n  x.y (MUST) was not tested: skip [must-un',
    );
    const xml = conformanceJunit(failed);
    expect(xml).toContain('<failure message="x.y (MUST) was not tested: skip"');
    expect(xml).toMatch(/<testsuites tests="2" failures="1"/);
  });
});
