import { toJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import { sampleResult } from '../testing/sample-result.ts';
import { fleetResultSchema, readFleetResult } from './read-result.ts';
import { fleetResultShape } from './result.ts';

const read = (value: unknown) => readFleetResult(JSON.stringify(value));
const [latency] = sampleResult.latencies;

describe('the reader of result files', () => {
  it('accepts what a run has written', () => {
    expect(read(sampleResult)).toEqual(sampleResult);
  });

  it('ignores members that a later version has added', () => {
    expect(read({ ...sampleResult, addedLater: 1 })).toEqual(sampleResult);
  });

  it.each<[string, string, string]>([
    ['no JSON', '{', 'is not JSON'],
    ['an empty file', '', 'is not JSON'],
    ['a list', '[]', 'is not a result of fleetbed simulate'],
    ['null', 'null', 'is not a result of fleetbed simulate'],
    ['JSON of something else', '{"a":1}', 'is not a result of fleetbed simulate'],
    [
      'a report of the suite',
      '{"schema":"fleetbed-conformance/2"}',
      'has the schema fleetbed-conformance/2; this command reads fleetbed-fleet/2',
    ],
    [
      'a later version',
      '{"schema":"fleetbed-fleet/3\\u001b[2J"}',
      'has the schema fleetbed-fleet/3\\u{1b}[2J;',
    ],
  ])('refuses the file: %s', (_what, json, said) => {
    expect(() => readFleetResult(json)).toThrow(said);
  });

  it.each<[string, unknown, string]>([
    ['without a funnel', { ...sampleResult, funnel: undefined }, 'damaged result: funnel'],
    [
      'with a negative count',
      { ...sampleResult, funnel: { ...sampleResult.funnel, success: -1 } },
      'funnel.success is not',
    ],
    [
      'with an invalid histogram',
      { ...sampleResult, latencies: [{ ...latency, histogram: 'AAAA' }] },
      'latencies.0.histogram: a histogram is not in the compressed V2 encoding',
    ],
    [
      'with a histogram of something else',
      { ...sampleResult, latencies: [{ ...latency, count: 99 }] },
      'latencies.0.histogram has 6 durations, but latencies.0.count is 99',
    ],
  ])('refuses a result %s', (_what, value, said) => {
    expect(() => read(value)).toThrow(said);
  });
});

describe('the published schema of results', () => {
  it('equals the shape with which results are read, plus an ID', () => {
    const { $id, ...schema } = fleetResultSchema() as Record<string, unknown>;
    expect($id).toBe('urn:fleetbed:fleet:2');
    expect(schema).toEqual(toJsonSchema(fleetResultShape, { ignoreActions: ['finite'] }));
    expect(schema.required).toContain('schema');
  });
});
