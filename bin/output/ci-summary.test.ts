import { describe, expect, it } from 'vitest';
import { type CiFinding, type CiSummary, ciFormats } from './ci-summary.ts';

const [markdown, annotations] = ciFormats((summary: CiSummary) => summary);

const finding: CiFinding = {
  level: 'error',
  subject: 'errors/error-says-why',
  sentence: 'expected a | b, actual <img src=x> @team 100%\nand more',
  repeat: "bash '/tmp/a b.sh'",
};
const summary: CiSummary = {
  title: 'Conformance of http://host',
  headline: 'fail: 1 case failed',
  counts: { fail: 1, error: 0, pass: 2 },
  findings: [finding],
};

describe('the summary in Markdown', () => {
  it('shows headline, counts that are not zero, and a row for each finding', () => {
    expect(markdown.render(summary)).toBe(
      [
        '### Conformance of http://host',
        '',
        '**fail: 1 case failed**',
        '',
        '| fail | pass |',
        '| --- | --- |',
        '| 1 | 2 |',
        '',
        '|  | check | what was seen | repeat |',
        '| --- | --- | --- | --- |',
        '| error | <code>errors/error-says-why</code> ' +
          '| expected a &#124; b, actual &#60;img src=x&#62; &#64;team 100%; and more ' +
          "| <code>bash '/tmp/a b.sh'</code> |",
        '',
      ].join('\n'),
    );
  });

  it('has no table when there is nothing to count or to find', () => {
    const empty = { ...summary, counts: {}, findings: [] };
    expect(markdown.render(empty)).toBe(
      '### Conformance of http://host\n\n**fail: 1 case failed**\n',
    );
  });

  it('names how many findings it leaves out of a long list', () => {
    const findings = Array.from({ length: 250 }, () => finding);
    expect(markdown.render({ ...summary, findings })).toContain('\n50 more in the report.\n');
  });
});

describe('annotations for GitHub', () => {
  it('escape what would end the title or the line', () => {
    const odd = { ...finding, subject: 'a: b, c', sentence: '100% sure\n::error::no' };
    expect(annotations.render({ ...summary, findings: [odd] })).toBe(
      '::error title=a%3A b%2C c::100%25 sure; ::error::no\n',
    );
  });

  it('show errors first, and at most ten of each level', () => {
    const findings = [
      { ...finding, level: 'warning' as const },
      ...Array.from({ length: 12 }, () => finding),
    ];
    const lines = annotations
      .render({ ...summary, findings })
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(11);
    expect(lines[9]).toBe(
      '::error title=Conformance of http%3A//host::3 more errors in the report',
    );
    expect(lines[10]).toMatch(/^::warning /);
  });

  it('are empty when everything passed', () => {
    expect(annotations.render({ ...summary, findings: [] })).toBe('');
  });
});
