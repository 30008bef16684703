import { describe, expect, it } from 'vitest';
import { listCases } from '../conformance.ts';
import { compareReports } from '../result/compare.ts';
import { coverage, earlierResult, exchange, hostile, result } from '../testing/hostile-result.ts';
import { resultOf, verdictOn } from '../testing/results.ts';
import { conformanceHtml } from './html.ts';

const maxBytes = 2_000_000;
const html = conformanceHtml(result, coverage, compareReports(earlierResult, result));

describe('the HTML file of a run', () => {
  it('loads nothing and runs only its own script', () => {
    const [, policy = ''] =
      /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(html.match(/<script/g)).toHaveLength(2);
    expect(html.match(/<\/script>/g)).toHaveLength(2);
  });

  it('stays below 2 MB with 1,000 cases and much evidence', () => {
    const long = { ...exchange, response: { ...exchange.response, body: '<"'.repeat(2048) } };
    const exchanges = Array.from({ length: 40 }, () => long);
    const outcome = { verdict: 'fail', expected: 'x', actual: hostile.repeat(100) } as const;
    const all = listCases().map(({ id }) =>
      verdictOn(id, outcome, { exchanges, reproScript: 'x'.repeat(50_000) }),
    );
    const thousand = all.slice(0, 1000);
    expect(thousand).toHaveLength(1000);
    expect(Buffer.byteLength(conformanceHtml(resultOf(thousand), coverage))).toBeLessThan(maxBytes);
    expect(Buffer.byteLength(html)).toBeLessThan(maxBytes / 2);
  });
});
