/** Creates hostile bodies by random changes: truncated, damaged, wrapped or with odd members. */
import type { Random } from '../../fixtures/base/random.ts';

/** A hostile body and a description of the change. */
export interface HostileBody {
  readonly change: string;
  readonly bytes: Buffer;
}

type BodyChange = readonly [change: string, apply: (body: Buffer, random: Random) => Buffer];

/** Values that no field of the contract allows. */
const oddMembers = [
  'null',
  '7',
  '-1e400',
  '[]',
  '{}',
  'true',
  '"\\ud800"',
  `"${'x'.repeat(5000)}"`,
];

const brokenBytes = [0x00, 0x1f, 0x80, 0xc0, 0xf5, 0xff];

const changes: readonly BodyChange[] = [
  ['cut', (body, random) => body.subarray(0, random.integer(0, body.length - 1))],
  [
    'with a broken byte',
    (body, random) => insertBytes(body, random, Buffer.from([pick(brokenBytes, random)])),
  ],
  ['with a missing byte', (body, random) => without(body, random)],
  ['with an extra quote', (body, random) => insertBytes(body, random, Buffer.from('"'))],
  ['with an open bracket', (body, random) => insertBytes(body, random, Buffer.from('[{'))],
  ['twice', (body) => Buffer.concat([body, body])],
  ['after a byte order mark', (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])],
  ['in UTF-16', (body) => Buffer.from(body.toString('utf8'), 'utf16le')],
  ['as a string', (body) => Buffer.from(JSON.stringify(body.toString('utf8')))],
  ['in a hundred arrays', (body) => Buffer.from(`${'['.repeat(100)}${body}${']'.repeat(100)}`)],
  ['in unclosed arrays', (body) => Buffer.from(`${'['.repeat(10_000)}${body}`)],
  ['with an odd member', (body, random) => withOddMember(body, random)],
  ['with a missing member', (body, random) => withoutMember(body, random)],
];

/** Returns one change of a JSON body. */
export function hostileBody(body: Buffer, random: Random): HostileBody {
  const [change, apply] = pick(changes, random);
  return { change, bytes: apply(body, random) };
}

/**
 * Returns the value of bytes that are JSON in UTF-8; undefined for any other. A byte order mark may
 * be ignored. RFC 8259, section 8.1
 */
export function strictJson(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pick<Element>(elements: readonly Element[], random: Random): Element {
  const element = elements[random.integer(0, elements.length - 1)];
  if (element === undefined) throw new Error('there is nothing to pick from');
  return element;
}

function insertBytes(body: Buffer, random: Random, bytes: Buffer): Buffer {
  const offset = random.integer(0, body.length);
  return Buffer.concat([body.subarray(0, offset), bytes, body.subarray(offset)]);
}

function without(body: Buffer, random: Random): Buffer {
  const offset = random.integer(0, body.length - 1);
  return Buffer.concat([body.subarray(0, offset), body.subarray(offset + 1)]);
}

/** Returns the raw texts of an object's members. */
function membersOf(body: Buffer): [string, string][] {
  const value = strictJson(body);
  const object = typeof value === 'object' && value !== null ? value : {};
  return Object.entries(object).map(([name, member]) => [name, JSON.stringify(member)]);
}

function objectOf(members: readonly (readonly [string, string])[]): Buffer {
  return Buffer.from(`{${members.map(([name, raw]) => `${JSON.stringify(name)}:${raw}`).join()}}`);
}

function withOddMember(body: Buffer, random: Random): Buffer {
  const members = membersOf(body);
  const at = random.integer(0, members.length - 1);
  return objectOf(
    members.map(([name, raw], index) => [name, index === at ? pick(oddMembers, random) : raw]),
  );
}

function withoutMember(body: Buffer, random: Random): Buffer {
  const members = membersOf(body);
  members.splice(random.integer(0, members.length - 1), 1);
  return objectOf(members);
}
