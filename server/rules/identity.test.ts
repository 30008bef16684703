import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identityOf, readIdentity } from './identity.ts';

function canonical(text: string): string {
  const identity = readIdentity(text);
  if ('reason' in identity) throw new Error(`it was refused: it ${identity.reason}`);
  return identity.canonical;
}

function refusal(text: string): string {
  const identity = readIdentity(text);
  if (!('reason' in identity)) throw new Error(`it was taken: ${identity.canonical}`);
  return identity.reason;
}

function nested(levels: number, open = '{"a":', close = '}'): string {
  return [open.repeat(levels - 1), '{}', close.repeat(levels - 1)].join('');
}

describe('a device identity', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    [' {\n\t"a" : 1 }\r\n', '{"a":1}'],
    ['{"a":{"d":1,"c":[{"f":1,"e":2}]}}', '{"a":{"c":[{"e":2,"f":1}],"d":1}}'],
    ['{"a":1.0,"b":1e2}', '{"a":1,"b":100}'],
    ['{"a":-0}', '{"a":0}'],
    ['{"\\u0061":"\\u00e9\\/"}', '{"a":"\u00e9/"}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{}', '{}'],
    ['{"mac":["1","2"]}', '{"mac":["1","2"]}'],
    ['{"a":null,"b":true,"c":false}', '{"a":null,"b":true,"c":false}'],
    ['{"10":1,"9":2,"B":3,"a":4,"\u00e9":5}', '{"10":1,"9":2,"B":3,"a":4,"\u00e9":5}'],
    ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":1},"constructor":2}'],
  ])('has one canonical text for every spelling: %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
    expect(canonical(expected)).toBe(expected);
  });

  it('does not depend on the order of its members', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.json()), (members) => {
        const given = Object.entries(members).map(([name, json]) => pair(name, json));
        expect(canonical(`{${given.join(' , ')}}`)).toBe(canonical(`{${given.toReversed()}}`));
      }),
      { seed: 1, numRuns: 200 },
    );
  });
});

function pair(name: string, json: string): string {
  return `${JSON.stringify(name)}: ${json}`;
}

describe('two different identities', () => {
  it.each([
    ['{"a":1}', '{"a":2}'],
    ['{"a":1}', '{"b":1}'],
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":1}', '{"A":1}'],
    ['{"a":"x"}', '{"a":"X"}'],
    ['{"a":"x"}', '{"a":"x "}'],
    ['{"a":"\u00e9"}', '{"a":"e\u0301"}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":[1]}', '{"a":1}'],
    ['{"a":[]}', '{"a":{}}'],
    ['{"a":null}', '{}'],
    ['{"a":null}', '{"a":false}'],
    ['{"a":{"b":1}}', '{"a":{"b":1,"c":1}}'],
    ['{"a":"b","c":"d"}', '{"a":"b\\",\\"c\\":\\"d"}'],
  ])('stay distinct: %s and %s', (one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });

  it('stay distinct for any values', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        expect(JSON.parse(canonical(JSON.stringify(members)))).toEqual(
          JSON.parse(JSON.stringify(members)),
        );
      }),
      { seed: 2, numRuns: 200 },
    );
  });
});

describe('an invalid identity text', () => {
  it.each([
    '',
    ' ',
    '{',
    '{"a":}',
    "{'a':1}",
    '{a:1}',
    '{"a":1,}',
    '{"a":NaN}',
    '{"a":01}',
    '\ufeff{}',
    '{}{}',
    'mac=1',
  ])('is refused when it is not JSON: %j', (text) => {
    expect(refusal(text)).toMatch(/^is not JSON text: it (?:breaks at position \d|ends too early)/);
  });

  it.each(['null', 'true', '7', '"x"', '[]', '[{}]'])(
    'is refused when it is JSON of another kind: %s',
    (text) => {
      expect(refusal(text)).toBe('must be a string that holds a JSON object');
    },
  );

  it('is refused with a remedy when it was encoded twice', () => {
    expect(refusal('"{}"')).toBe(
      'must be a string that holds a JSON object; it holds one that was encoded twice, so encode it once',
    );
  });

  it.each(['1e400', '-1e400', '[1e999]', '{"b":1e309}'])(
    'is refused with a number that is too large: %s',
    (number) => {
      expect(refusal(`{"a":${number}}`)).toBe('has a number that is too large');
    },
  );

  it('is refused if nested in objects or lists beyond 32 levels', () => {
    expect(canonical(nested(32))).toBe(nested(32));
    expect(refusal(nested(33))).toBe('must not be nested deeper than 32 levels');
    expect(refusal(`{"a":${nested(32, '[', ']')}}`)).toContain('deeper than 32 levels');
  });

  it.each([
    ['objects', nested(100_000)],
    ['lists', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('is refused without a stack overflow at 100,000 levels: %s', (_, text) => {
    expect(refusal(text)).toBe('must have at most 4096 bytes');
    expect(identityOf(JSON.parse(text))).toEqual({
      reason: 'must not be nested deeper than 32 levels',
    });
  });
});

describe('an identity given as decoded data', () => {
  it.each([[undefined], [null], ['{}'], [[]], [7]])(
    'is refused when it is not an object: %j',
    (data) => {
      expect(identityOf(data)).toHaveProperty('reason');
    },
  );

  it('equals the same identity given as text', () => {
    expect(identityOf({ b: [1, { d: 1, c: 2 }], a: '' })).toEqual(
      readIdentity('{"a":"","b":[1,{"c":2,"d":1}]}'),
    );
  });
});

describe('the size of an identity', () => {
  const identityOfBytes = (bytes: number): string =>
    `{"mac":"${'x'.repeat(bytes - '{"mac":""}'.length)}"}`;

  it('is limited to 4096 bytes as sent', () => {
    expect(canonical(identityOfBytes(4096))).toBe(identityOfBytes(4096));
    for (const tooLong of [
      identityOfBytes(4097),
      `${identityOfBytes(4096)} `,
      `{"mac":"${'é'.repeat(2044)}"}`,
    ]) {
      expect(refusal(tooLong)).toBe('must have at most 4096 bytes');
    }
  });

  it('is limited to 4096 bytes in its canonical form too, with expanded numbers', () => {
    const numbers = (count: number): string => `{"a":[${Array(count).fill('1e20').join(',')}]}`;
    expect(canonical(numbers(185)).length).toBeLessThanOrEqual(4096);
    expect(refusal(numbers(190))).toBe('must have at most 4096 bytes');
    expect(identityOf(JSON.parse(identityOfBytes(4097)))).toEqual({
      reason: 'must have at most 4096 bytes',
      expected: 'at most 4096 bytes',
    });
  });
});
