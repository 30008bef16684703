import { describe, expect, it } from 'vitest';
import { sampleClientTest } from '../../conformance/client-judge/testing/sample-client-test.ts';
import { changeLines, clientTestLines, clientTestOutcomes } from './client-test-text.ts';

const lines = clientTestLines(sampleClientTest);

/** Returns the lines of a section that name a duty. */
function dutiesIn(title: string): readonly string[] {
  const from = lines.indexOf(`${title}:`) + 1;
  const laterLines = lines.slice(from, lines.indexOf('', from));
  return laterLines.filter((line) => /^ {2}[a-z]+\.[a-z-0-9]+ \(/.test(line));
}

describe('the text of a client test', () => {
  it('begins with the verdict, and lists as many duties as it counts', () => {
    expect(lines[0]).toContain(sampleClientTest.headline);
    expect(lines[1]).toBe(
      'Duties: 2 broken, 1 met, 1 open, 1 not-tested, 1 observed, 1 not-applicable.',
    );
    expect(dutiesIn('Broken')).toHaveLength(1);
    expect(dutiesIn('Broken, and waived')).toHaveLength(1);
    expect(lines.slice(lines.indexOf('Not tested:') + 1)).toContain('      get.gzip (should)');
  });

  it('shows the exchange of a violation, the remedy, and how many more there are', () => {
    const text = lines.join('\n');
    for (const part of ['scene revocation, exchange 7', 'remedy: authenticate', 'and 2 more'])
      expect(text).toContain(part);
  });

  it('lists the duties that lack a verdict for one reason in one row', () => {
    const [untested] = sampleClientTest.duties.filter(({ state }) => state === 'not-tested');
    if (untested === undefined) throw new Error('the sample has no duty that is not tested');
    const unmet = { ...untested, reason: 'it ended by itself' };
    const duties = [
      { ...unmet, duty: 'http.host', level: 'must' as const },
      { ...unmet, duty: 'get.once', level: 'should' as const },
    ];
    expect(clientTestLines({ ...sampleClientTest, duties })).toEqual(
      expect.arrayContaining([
        '  scene revocation: it ended by itself',
        '      http.host (must), get.once (should)',
      ]),
    );
  });

  it('marks a false success after a cut, and a client that sent no request again', () => {
    const cuts = lines.filter((line) => /download {2}/.test(line)).join('\n');
    expect(cuts).toMatch(/half of the download +yes +success \(FALSE\) +yes/);
    expect(cuts).toMatch(/whole download +NO +NONE +NO/);
  });

  it('names the duties whose state has changed since an earlier client test', () => {
    const duties = sampleClientTest.duties.map((duty) =>
      duty.duty === 'auth.key-strong' ? { ...duty, state: 'broken' as const } : duty,
    );
    expect(changeLines({ ...sampleClientTest, duties }, sampleClientTest)).toContain(
      '  auth.key-strong (must): broken -> met',
    );
    expect(changeLines(sampleClientTest, sampleClientTest)[1]).toMatch(/^No duty has changed/);
  });
});

describe('the JUnit outcomes of a client test', () => {
  it('fail for a broken duty of the level of --fail-on that is not waived', () => {
    const outcome = (failOn: 'must' | 'should', id: string) =>
      clientTestOutcomes({ ...sampleClientTest, failOn }).find((each) => each.id === id)?.outcome;
    expect(outcome('must', 'auth.renews-on-401')).toBe('failure');
    expect(outcome('should', 'http.backoff')).toBe('skipped');
    expect(outcome('must', 'auth.key-strong')).toBe('passed');
    expect(outcome('must', 'get.gzip')).toBe('skipped');
  });
});
