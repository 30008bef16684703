import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { sampleClientTest } from '../testing/sample-client-test.ts';
import { clientTestSchema, readClientTestResult } from './client-test-result.ts';

/** The JSON Schema validator of the mutation tester, which shares no code with our schema. */
const ownModules = createRequire(import.meta.url);
const tester = createRequire(ownModules.resolve('@stryker-mutator/core/package.json'));
const Reader: new (options: object) => { compile(schema: object): (value: unknown) => boolean } =
  tester('ajv').default;
const isValid = new Reader({ strict: true, strictTypes: false, strictTuples: false }).compile(
  clientTestSchema(),
);

const written = JSON.stringify(sampleClientTest);
const changed = (change: object) => JSON.stringify({ ...sampleClientTest, ...change });

describe('the result of a client test', () => {
  it('is valid by its JSON Schema, and is read again without a loss', () => {
    expect(isValid(JSON.parse(written))).toBe(true);
    expect(readClientTestResult(written)).toEqual(JSON.parse(written));
  });

  it.each([
    ['text that is not JSON', '{', /^is not JSON$/],
    [
      'the result of a server',
      '{"schema":"fleetbed-conformance/2"}',
      /^is no result of a client test/,
    ],
    ['an unknown outcome', changed({ outcome: 'fine' }), /: outcome is not/],
    ['a duty without a state', changed({ duties: [{ duty: 'a.b' }] }), /: duties\.0\.\w+ is not/],
  ])('is refused with its place if it is %s', (_, json, message) => {
    expect(() => readClientTestResult(json)).toThrow(message);
  });
});
