/** Alterations of the bodies of successful responses as a whole. */
import { isObject } from '../../../fixtures/base/json.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import { withText } from '../alter.ts';
import type { ProxiedResponse } from '../defect.ts';
import {
  type Alteration,
  aboutPart,
  alteredAt,
  jsonOfStatus,
  ofStatus,
  type ViolatedLevel,
  withoutMember,
} from './alteration.ts';

const STATUS = 200;

export function bodyAlterations(id: OperationId, row: Operation): readonly Alteration[] {
  const success = row.success[STATUS];
  if (success === undefined) return [];
  const bytes = byteRows.filter(({ fits }) => fits(success));
  const hasJsonBody = success.mediaType === undefined && success.shape !== undefined;
  const isList = hasJsonBody && row.response?.lists?.[''] !== undefined;
  return [
    ...bytes.map((each) => alteration(id, each, ofStatus(STATUS, each.change))),
    ...(hasJsonBody ? jsonRows : []).map((each) =>
      alteration(id, each, jsonOfStatus(STATUS, each.change)),
    ),
    ...(isList ? listRows(row) : []).map((each) =>
      alteration(
        id,
        each,
        jsonOfStatus(STATUS, (body) => (Array.isArray(body) ? each.change(body) : body)),
      ),
    ),
    ...(id === 'get-configuration' ? pairRows : []).map((each) =>
      alteration(id, each, jsonOfStatus(STATUS, each.change)),
    ),
  ];
}

interface BodyAlteration {
  readonly kind: string;
  readonly says: string;
  readonly violatedLevel: ViolatedLevel;
}

function alteration(
  id: OperationId,
  { kind, says, violatedLevel }: BodyAlteration,
  change: Alteration['change'],
): Alteration {
  return {
    kind,
    says: `200 ${says}`,
    violatedLevel,
    about: aboutPart(id, 'body'),
    change,
  };
}

type SuccessRow = Operation['success'][number];
const isJson = ({ shape, mediaType }: SuccessRow): boolean =>
  shape !== undefined && mediaType === undefined;
const isOther = ({ mediaType }: SuccessRow): boolean => mediaType !== undefined;
const isToken = ({ mediaType = '' }: SuccessRow): boolean => mediaType.endsWith('jwt');
const isCsv = ({ mediaType }: SuccessRow): boolean => mediaType === 'text/csv';
const isNone = (success: SuccessRow): boolean => !isJson(success) && !isOther(success);

interface ByteRow extends BodyAlteration {
  readonly fits: (success: SuccessRow) => boolean;
  readonly change: (response: ProxiedResponse) => ProxiedResponse;
}

function inText(change: (text: string) => string): ByteRow['change'] {
  return (response) => withText(response, change(response.body.toString('utf8')));
}

const cut =
  (part: number): ByteRow['change'] =>
  (response) => ({
    ...response,
    body: response.body.subarray(0, Math.floor(response.body.length * part)),
  });

const byteRows: readonly ByteRow[] = [
  {
    kind: 'body-cut',
    says: 'without the last byte',
    violatedLevel: 'must',
    fits: (each) => isJson(each) || isToken(each),
    change: (response) => ({ ...response, body: response.body.subarray(0, -1) }),
  },
  {
    kind: 'body-cut',
    says: 'with half of its body',
    violatedLevel: 'must',
    fits: (each) => isJson(each) || isOther(each),
    change: cut(0.5),
  },
  {
    kind: 'body-empty',
    says: 'without its body',
    violatedLevel: 'must',
    fits: (each) => !isNone(each),
    change: cut(0),
  },
  {
    kind: 'body-added',
    says: 'with a body',
    violatedLevel: 'must',
    fits: isNone,
    change: inText(() => '{}'),
  },
  {
    kind: 'body-altered',
    says: 'with one byte altered in the middle',
    violatedLevel: 'must',
    fits: isToken,
    change: byteAltered,
  },
  {
    kind: 'body-altered',
    says: 'in quotes',
    violatedLevel: 'must',
    fits: isToken,
    change: inText((text) => `"${text}"`),
  },
  {
    kind: 'body-altered',
    says: 'without its last line',
    violatedLevel: 'must',
    fits: isCsv,
    change: inLines(2, (lines) => lines.slice(0, -1)),
  },
  {
    kind: 'body-altered',
    says: 'without its first line',
    violatedLevel: 'must',
    fits: isCsv,
    change: inLines(1, (lines) => lines.slice(1)),
  },
  {
    kind: 'body-altered',
    says: 'with its last line twice',
    violatedLevel: 'must',
    fits: isCsv,
    change: inLines(2, (lines) => [...lines, ...lines.slice(-1)]),
  },
  {
    kind: 'body-altered',
    says: 'with its entry lines in reverse order',
    violatedLevel: 'must',
    fits: isCsv,
    change: inLines(3, ([head = '', ...lines]) => [head, ...lines.toReversed()]),
  },
  {
    kind: 'body-altered',
    says: 'with its first field renamed',
    violatedLevel: 'must',
    fits: isCsv,
    change: inLines(1, ([head = '', ...lines]) => [`x${head}`, ...lines]),
  },
  {
    kind: 'body-in-another-form',
    says: 'with other line ends',
    violatedLevel: 'nothing',
    fits: isCsv,
    change: inText(otherLineEnds),
  },
  {
    kind: 'body-in-another-form',
    says: 'with white space around and within',
    violatedLevel: 'nothing',
    fits: isJson,
    change: inText(spaced),
  },
];

/** Changes the byte in the middle. In a token this byte is in the claims, which are signed. */
function byteAltered(response: ProxiedResponse): ProxiedResponse {
  const body = Buffer.from(response.body);
  const middle = Math.floor(body.length / 2);
  if (body.length > 0) body[middle] = body[middle] === 0x41 ? 0x42 : 0x41;
  return { ...response, body };
}

/** Changes the lines of a text. Quoted line ends are not supported; the suite's data has none. */
function inLines(
  min: number,
  change: (lines: readonly string[]) => readonly string[],
): ByteRow['change'] {
  return inText((text) => {
    const end = text.includes('\r\n') ? '\r\n' : '\n';
    const lines = text.split(end).filter((line) => line !== '');
    return lines.length < min
      ? text
      : change(lines)
          .map((line) => line + end)
          .join('');
  });
}

function otherLineEnds(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n');
}

function spaced(text: string): string {
  try {
    return `\n${JSON.stringify(JSON.parse(text), null, 3)}\n`;
  } catch {
    return text;
  }
}

interface JsonRow<Body = unknown> extends BodyAlteration {
  readonly change: (body: Body) => unknown;
}

const jsonRows: readonly JsonRow[] = [
  {
    kind: 'body-wrapped',
    says: 'with its body in an array',
    violatedLevel: 'must',
    change: (body) => [body],
  },
  {
    kind: 'body-wrapped',
    says: 'with its body in an object',
    violatedLevel: 'must',
    change: (data) => ({ data }),
  },
  {
    kind: 'members-in-another-order',
    says: 'with the members of every object in reverse order',
    violatedLevel: 'nothing',
    change: reversedText,
  },
];

function reversedText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedText);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toReversed();
  return Object.fromEntries(entries.map(([name, each]) => [name, reversedText(each)]));
}

function listRows(row: Operation): readonly JsonRow<readonly unknown[]>[] {
  const isFree = row.response?.lists?.[''] === 'free';
  return [
    {
      kind: 'entry-dropped',
      says: 'without the first entry',
      violatedLevel: 'must',
      change: (list) => list.slice(1),
    },
    {
      kind: 'entry-dropped',
      says: 'without the last entry',
      violatedLevel: 'must',
      change: (list) => list.slice(0, -1),
    },
    { kind: 'entry-dropped', says: 'with no entries', violatedLevel: 'must', change: () => [] },
    {
      kind: 'list-reversed',
      says: 'with the entries in reverse order',
      violatedLevel: isFree ? 'nothing' : 'must',
      change: (list) => list.toReversed(),
    },
    {
      kind: 'member-added',
      says: 'with a member that the contract does not know in each entry',
      violatedLevel: 'nothing',
      change: (list) => list.map((each) => (isObject(each) ? { ...each, fuzz: 1 } : each)),
    },
    // The contract does not forbid repeated entries in lists of artifacts.
    ...(isFree ? [] : [twice]),
  ];
}

const twice: JsonRow<readonly unknown[]> = {
  kind: 'entry-twice',
  says: 'with the last entry twice',
  violatedLevel: 'must',
  change: (list) => [...list, ...list.slice(-1)],
};

const pairRows: readonly JsonRow[] = (['first', 'last', 'every'] as const).flatMap((pick) => [
  {
    kind: 'pair-dropped',
    says: `without a pair (${pick})`,
    violatedLevel: 'must' as const,
    change: (body: unknown) => alteredAt(body, ['*'], pick, withoutMember),
  },
  {
    kind: 'pair-altered',
    says: `with another value (${pick})`,
    violatedLevel: 'must' as const,
    change: (body: unknown) =>
      alteredAt(body, ['*'], pick, (owner, name) => ({
        ...owner,
        [name]: `${String(owner[name])}2`,
      })),
  },
  {
    kind: 'pair-altered',
    says: `with a number as a value (${pick})`,
    violatedLevel: 'must' as const,
    change: (body: unknown) =>
      alteredAt(body, ['*'], pick, (owner, name) => ({ ...owner, [name]: 7 })),
  },
]);
