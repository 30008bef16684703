import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  bodyIncludes,
  ExpectationFailure,
  expectEach,
  expectEqual,
  expectEqualIfThere,
  expectJson,
  expectMembers,
  expectNoBody,
  expectPresent,
  expectShape,
  expectStatus,
  sorted,
} from './expectations.ts';
import type { HttpResponse } from './response.ts';

function responseOf(status: number, text = ''): HttpResponse {
  return { status, text, bytes: Buffer.from(text), headers: {} };
}

/** Returns the message of the expectation, or undefined when it passes. */
function complaint(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(ExpectationFailure);
    return error instanceof Error ? error.message : undefined;
  }
}

describe('a search in a response body', () => {
  it.each([
    ['in JSON with escapes', '{"t\\u0069mezone": "UT\\u0043"}', true],
    ['in a text that is not JSON', 'the timezone,UTC', true],
    ['absent from JSON', '{"timezone": "CET"}', false],
  ])('looks for a value %s', (_, text, expected) => {
    expect(bodyIncludes(responseOf(200, text), 'UTC')).toBe(expected);
  });
});

describe('tolerant expectations on a response', () => {
  it('accept an absent field, and refuse a field with another value', () => {
    expect(complaint(() => expectEqualIfThere('size', undefined, 1))).toBeUndefined();
    expect(complaint(() => expectEqualIfThere('size', 1, 1))).toBeUndefined();
    expect(complaint(() => expectEqualIfThere('size', 2, 1))).toBe(
      'expected size 1, actual size 2',
    );
    expect(complaint(() => expectEqualIfThere('size', null, 1))).toContain('actual size null');
  });

  it('accept additional members, and refuse missing or different ones', () => {
    const wanted = { name: 'a' };
    expect(complaint(() => expectMembers('it', { name: 'a', more: 1 }, wanted))).toBeUndefined();
    expect(complaint(() => expectMembers('it', { name: 'b' }, wanted))).toContain('{"name":"b"}');
    expect(complaint(() => expectMembers('it', { more: 1 }, wanted))).toContain('actual it {}');
    expect(complaint(() => expectMembers('it', undefined, wanted))).toContain(
      'actual it undefined',
    );
  });

  it('compare lists regardless of order, and refuse a duplicate element', () => {
    expect(sorted(['b', 'a'])).toEqual(sorted(['a', 'b']));
    expect(sorted(['b', 'a', 'a'])).not.toEqual(sorted(['a', 'b']));
  });
});

describe('expectations on a response', () => {
  it.each([
    ['a wrong status', () => expectStatus(responseOf(500, 'oops'), 200, 204)],
    ['a body where none belongs', () => expectNoBody(responseOf(204, '{}'))],
    ['a body that is not JSON', () => expectJson(responseOf(200, '<html>'))],
    ['an empty body', () => expectJson(responseOf(200))],
    ['another value', () => expectEqual('list', [1, 2], [2, 1])],
    ['a number for a string', () => expectEqual('total', 2, '2')],
    ['a missing value', () => expectPresent('a device', undefined)],
  ])('fail with the expected and the actual value on %s', (_, act) => {
    expect(complaint(act)).toMatch(/^expected .+, actual .+/s);
  });

  it('describe the expected and the actual side in words', () => {
    expect(complaint(() => expectStatus(responseOf(500, 'oops'), 200, 204))).toBe(
      'expected status 200 or 204, actual 500 with the body oops',
    );
  });

  it('name the field that does not match a shape', () => {
    const shape = v.object({ artifact: v.object({ name: v.string() }) });
    const found = complaint(() => expectShape(responseOf(200, '{"artifact":{"name":7}}'), shape));
    expect(found).toContain('artifact.name');
  });

  it('return a matching value, including fields that the shape does not name', () => {
    const shape = v.looseObject({ id: v.string() });
    expect(expectShape(responseOf(200, '{"id":"7","more":1}'), shape)).toEqual({
      id: '7',
      more: 1,
    });
  });

  it('name the row of a table with another response', async () => {
    const rows = { good: 400, bad: 204 };
    const each = expectEach(400, rows, async (status) => responseOf(status));
    await expect(each).rejects.toThrow('expected status 400 for bad, actual 204 without a body');
  });

  it('truncate long values in the message', () => {
    const found = complaint(() => expectEqual('text', 'x'.repeat(10_000), 'short'));
    expect(found?.length).toBeLessThan(400);
  });
});
