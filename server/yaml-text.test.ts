import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { readYaml } from './yaml-text.ts';

const shape = v.strictObject({
  name: v.string('must be a text'),
  items: v.optional(v.array(v.strictObject({ count: v.number('must be a number') }))),
});

/** The first fault as `line:column: what is wrong`. */
function faultOf(text: string): string {
  const read = readYaml(text, shape);
  const [fault] = 'faults' in read ? read.faults : [];
  return fault ? `${fault.line}:${fault.column}: ${fault.message}` : 'none';
}

describe('YAML by hand', () => {
  it('is read, as JSON is', () => {
    const expected = { name: 'a', items: [{ count: 1 }] };
    for (const text of ['name: a\nitems:\n  - count: 1\n', JSON.stringify(expected)]) {
      expect(readYaml(text, shape)).toMatchObject({ content: expected });
    }
  });

  it.each([
    ['name: a\nitems:\n  - count: one\n', '3:12: items.0.count: must be a number'],
    ['name: a\nitems:\n  - count: 1\n  - cuont: 2\n', '4:5: items.1.cuont:'],
    ['name: [a', '1:9: '],
    ['name: a\nname: b\n', '2:1: Map keys must be unique'],
    ['name: 1\n', '1:7: name: must be a text'],
    ['{"name": "a", "other": 1}', '1:15: other:'],
    ['', '1:1: '],
    ['- a', '1:3: '],
    ['a: &a [x]\nname: *b\n', '1:1: '],
    ['"\\q"', '1:'],
  ])('is refused with its place: %j', (text, sentence) => {
    expect(faultOf(text)).toContain(sentence);
  });

  it('does not unfold aliases without end', () => {
    const levels = Array.from({ length: 20 }, (_, at) => {
      const before = Array(9).fill(`*l${at}`).join(', ');
      return `l${at + 1}: &l${at + 1} [${at === 0 ? 'x' : before}]`;
    });
    expect(faultOf(`l0: &l0 x\n${levels.join('\n')}\n`)).toContain('1:1: ');
  });

  it('is bounded', () => {
    expect(faultOf(`name: ${'a'.repeat(1024 * 1024)}`)).toContain('more than');
  });

  it('tells of every fault, names that nobody knows first', () => {
    const read = readYaml('nmae: a\nitems:\n  - count: x\n', shape);
    const faults = 'faults' in read ? read.faults : [];
    expect(faults.map(({ line, column }) => [line, column])).toEqual([
      [1, 1],
      [1, 1],
      [3, 12],
    ]);
    expect(faults[0]?.message).toBe('nmae: is unknown here');
  });

  it('tells where the value of a path stands', () => {
    const read = readYaml('name: a\nitems:\n  - count: 1\n', shape);
    expect('placeOf' in read && read.placeOf(['items', 0, 'count'])).toEqual({
      line: 3,
      column: 12,
    });
  });

  it('cannot reach the prototype', () => {
    const any = v.record(v.string(), v.unknown());
    readYaml('__proto__:\n  polluted: yes\n', any);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
