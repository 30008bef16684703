import { describe, expect, it } from 'vitest';
import { dividedResult, figuresOf, sampleResult } from '../testing/sample-result.ts';
import { fleetCsv } from './csv.ts';

const stage = {
  startMs: 0,
  endMs: 2000,
  lateness: figuresOf([0]),
  latencies: sampleResult.latencies,
  operations: sampleResult.operations,
};

describe('the CSV report of a run', () => {
  it('has a row per operation, for run and stages, with errors and percentiles', () => {
    const stages = [{ ...stage, name: 'hold' }];
    const [head, whole, hold, end] = fleetCsv({ ...sampleResult, stages }).split('\r\n');
    expect(head).toMatch(/^stage,operation,seconds,requests,requests_per_second,errors,2xx,/);
    expect(whole).toMatch(/^,post-alerts,4\.234,9,2\.126,2,6,0,1,0,2,1\.\d+,/);
    expect(hold).toMatch(/^hold,post-alerts,2\.000,9,4\.500,2,/);
    expect(end).toBe('');
  });

  it.each([
    ['a "b", c', '"a ""b"", c",'],
    ['=1+2', `"'=1+2",`],
    ['@SUM(1)', `"'@SUM(1)",`],
    ['two\nlines', '"two\nlines",'],
  ])('quotes the stage %j, and prevents it from being a formula', (name, start) => {
    const csv = fleetCsv({ ...sampleResult, operations: [], stages: [{ ...stage, name }] });
    expect(csv.slice(csv.indexOf('\r\n') + 2).startsWith(start)).toBe(true);
  });

  it('ends each row with the parts of the latency and the bytes, empty where unknown', () => {
    const [head, divided] = fleetCsv(dividedResult).split('\r\n');
    expect(head).toMatch(
      /,waiting_p50_ms,waiting_p99_ms,service_p50_ms,service_p99_ms,sent_bytes,received_bytes$/,
    );
    expect(divided).toMatch(/,0\.000,9\.\d+,1\.\d+,12\.\d+,1200,0$/);
    const [, earlierRow] = fleetCsv(sampleResult).split('\r\n');
    expect(earlierRow).toMatch(/\d,,,,,,$/);
    expect(earlierRow?.split(',')).toHaveLength(head?.split(',').length ?? 0);
  });

  it('leaves percentiles empty when nothing was answered', () => {
    const csv = fleetCsv({ ...sampleResult, latencies: [] });
    expect(csv).toMatch(/,2(,){12}\r\n$/);
  });
});
