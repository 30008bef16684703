/**
 * The table of variations: what each changes, which rule allows it, and how it is applied.
 */
import type * as v from 'valibot';
import { isObject } from '../../fixtures/base/json.ts';
import type { Random } from '../../fixtures/base/random.ts';
import type { MemberPath } from '../../fixtures/contract/list-orders.ts';
import { errorShape } from '../../fixtures/contract/resources.ts';
import { isTimestamp } from '../../fixtures/contract/text.ts';
import type { VariationName } from '../../fixtures/contract/variation-names.ts';
import { withOtherCase, withOtherMediaType, withOtherOrder } from './headers.ts';
import { type IdShape, withReshapedIds } from './ids.ts';
import type { JsonStyle } from './json-text.ts';
import * as links from './links.ts';
import { unknownName, variedLinkLines } from './links.ts';
import { shuffleItems } from './order.ts';
import { changedAt, freeLists, pathsOf, withoutMember } from './paths.ts';
import type { HeaderLine, ResponseDraft } from './response.ts';

/** The random choices that decide how a response is varied. */
export interface VariationChoices {
  readonly random: Random;
  /** The format of IDs in all responses of a seed; absent if they stay UUIDs. */
  readonly idShape?: IdShape | undefined;
}

/** A row of the table. */
export interface VariationRow {
  readonly id: VariationName;
  /** A sentence that says what differs. */
  readonly varies: string;
  /** The heading of the contract with a summary, or the section of the RFC. */
  readonly rule: string;
  /** True if it is applied to every response to which it can apply. */
  readonly always?: boolean;
  appliesTo(draft: ResponseDraft): boolean;
  apply(draft: ResponseDraft, chance: VariationChoices): ResponseDraft;
}

const DICE_BYTES = 509;
const REMOVED_SHARE = 2;

/** Every variation, in the order in which they are applied. */
export const variationRows: readonly VariationRow[] = [
  {
    id: 'request-ids',
    varies: 'generated request IDs are not UUIDs',
    rule: 'Contract, Error: request_id is a string that the server generates; the format is not specified.',
    always: true,
    appliesTo: ({ isRequestIdGenerated }) => isRequestIdGenerated === true,
    // The ID was already generated in this format when the request arrived; see `newRequestId`.
    apply: (draft) => ({ ...draft, isRequestIdGenerated: false }),
  },
  {
    id: 'deployment-ids',
    varies: 'deployment IDs in v2 responses are not lowercase UUIDs; they work as returned',
    rule: 'Contract, DeploymentInstructions (v2): the ID is a string, unique per device; the format is not specified.',
    always: true,
    appliesTo: hasBody,
    apply: (draft, { idShape }) =>
      idShape ? { ...draft, body: withReshapedIds(draft.operation, draft.body, idShape) } : draft,
  },
  {
    id: 'list-order',
    varies: 'lists without a defined order have another order; sorted lists stay sorted',
    rule: 'Contract, Resources and Endpoints: they specify the elements, but no order except for sort.',
    appliesTo: (draft) => isSuccess(draft) && freeLists(draft.operation).length > 0,
    apply: (draft, { random }) =>
      changedAtAll(draft, freeLists(draft.operation), (list) =>
        Array.isArray(list) ? shuffleItems(list, random) : list,
      ),
  },
  {
    id: 'absent-members',
    varies: 'optional members are absent',
    rule: 'Contract, Resources and their fields: "Required: no" members need not be present.',
    appliesTo: (draft) => hasBody(draft) && removable(draft).length > 0,
    apply: (draft, { random }) => {
      const removedMembers = removable(draft).filter(() => random.integer(1, REMOVED_SHARE) === 1);
      return { ...draft, body: removedMembers.reduce(withoutMember, draft.body) };
    },
  },
  {
    id: 'unknown-members',
    varies: `objects have an additional member, ${unknownName}; free-form maps do not`,
    rule: 'Contract, Versioning, rule 3: clients must tolerate backwards-compatible changes; an additional member is one.',
    appliesTo: hasBody,
    apply: (draft, { random }) =>
      changedAtAll(draft, shapeOf(draft)?.open ?? [], (object) =>
        isObject(object) ? { ...object, [unknownName]: unknownValue(random) } : object,
      ),
  },
  {
    id: 'timestamps',
    varies: 'times have another number of fraction digits, or +00:00 instead of Z',
    rule: 'Contract, What the service does: timestamps are date-time strings of ISO 8601, in any of its forms (RFC 3339, section 5.6).',
    appliesTo: (draft) => (shapeOf(draft)?.timestamps.length ?? 0) > 0,
    apply: (draft, { random }) =>
      changedAtAll(draft, shapeOf(draft)?.timestamps ?? [], (time) => respelledTime(time, random)),
  },
  ...linkRows([
    {
      id: 'link-query-order',
      varies: 'the parameters of links have another order',
      rule: 'Contract, Device authentication and ArtifactLink: a link is a string to be used unchanged; RFC 3986, section 3.4, leaves its query to the server.',
      respell: links.withShuffledQuery,
    },
    {
      id: 'link-unknown-parameter',
      varies: `links have an additional parameter, ${unknownName}, that the signature does not cover`,
      rule: 'Contract, ArtifactLink: uri is a string of any form; RFC 3986, section 3.4, leaves its query to the server.',
      respell: links.withUnknownParameter,
    },
    {
      id: 'link-escapes',
      varies: 'characters of links are percent-encoded unnecessarily, or left unencoded',
      rule: 'RFC 3986, sections 2.3 and 6.2.2.2: such links are equivalent.',
      respell: links.withOtherEscapes,
    },
    {
      id: 'link-scheme-case',
      varies: 'the scheme of links is in uppercase',
      rule: 'RFC 3986, section 3.1: schemes are case-insensitive.',
      respell: links.withSchemeInCapitals,
    },
  ]),
  {
    id: 'link-lines',
    varies:
      'the relations of Link are in one line or several, with any order, spaces, quotes and case',
    rule: 'RFC 8288, section 3, and RFC 9110, section 5.3: lines of a list may be joined, and quotes left out.',
    appliesTo: ({ headers }) => headers.some(isNamed('link')),
    apply: (draft, { random }) => ({ ...draft, headers: variedLinkLines(draft.headers, random) }),
  },
  {
    id: 'member-order',
    varies: 'members of objects have another order',
    rule: 'RFC 8259, section 1: an object is unordered.',
    appliesTo: hasBody,
    apply: (draft, { random }) => ({ ...draft, body: withShuffledMembers(draft.body, random) }),
  },
  ...styleRows([
    {
      id: 'json-spaces',
      varies: 'JSON has white space between its tokens',
      rule: 'RFC 8259, section 2: white space is allowed around structural characters.',
      liberty: 'spaces',
    },
    {
      id: 'json-escapes',
      varies: 'characters of JSON strings are written as escapes',
      rule: 'RFC 8259, section 7: any character may be escaped.',
      liberty: 'escapes',
    },
    {
      id: 'json-numbers',
      varies: 'whole numbers are written with a zero fraction or an exponent',
      rule: 'RFC 8259, section 6: 1, 1.0 and 1e0 are the same number.',
      liberty: 'numbers',
    },
  ]),
  {
    id: 'media-type',
    varies: 'the media type of JSON has another case, spaces, quotes, or no charset',
    rule: 'RFC 9110, section 8.3.1: case, quotes and spaces may vary; RFC 8259, section 11: JSON has no charset.',
    appliesTo: hasBody,
    apply: (draft, { random }) => ({
      ...draft,
      headers: withOtherMediaType(draft.headers, random),
    }),
  },
  {
    id: 'header-case',
    varies: 'names of headers are in lowercase, uppercase or mixed case',
    rule: 'RFC 9110, section 5.1: field names are case-insensitive.',
    appliesTo: ({ headers }) => headers.length > 0,
    apply: (draft, { random }) => ({ ...draft, headers: withOtherCase(draft.headers, random) }),
  },
  {
    id: 'header-order',
    varies: 'headers have another order',
    rule: 'RFC 9110, section 5.3: the order of fields of different names does not matter.',
    appliesTo: ({ headers }) => headers.length > 1,
    apply: (draft, { random }) => ({ ...draft, headers: withOtherOrder(draft.headers, random) }),
  },
  {
    id: 'chunked',
    varies: 'JSON bodies are sent in chunks, without Content-Length',
    rule: 'RFC 9112, section 6.1, and RFC 9110, section 8.6: Content-Length is optional.',
    appliesTo: hasBody,
    apply: (draft) => ({ ...draft, chunked: true }),
  },
];

function hasBody({ body }: ResponseDraft): boolean {
  return body !== undefined;
}

function isSuccess({ body, status }: ResponseDraft): boolean {
  return body !== undefined && status < 400;
}

function isNamed(wanted: string): (line: HeaderLine) => boolean {
  return ([name]) => name.toLowerCase() === wanted;
}

/**
 * Rule 1 of Errors does not require both members. `error` is kept, because only it gives the
 * reason.
 */
const ofRefusals: readonly MemberPath[] = ['request_id'];

/** Returns the members that may be missing from a response. */
export function removable({
  operation,
  status,
}: Pick<ResponseDraft, 'operation' | 'status'>): readonly MemberPath[] {
  return status >= 400 ? ofRefusals : (operation?.response?.removable ?? []);
}

function shapeOf(draft: ResponseDraft): ReturnType<typeof pathsOf> | undefined {
  if (!hasBody(draft)) return undefined;
  const { operation, status } = draft;
  const shape: v.GenericSchema | undefined =
    status >= 400 ? errorShape : operation?.success[status]?.shape;
  return shape && pathsOf(shape);
}

function changedAtAll(
  draft: ResponseDraft,
  paths: readonly MemberPath[],
  change: (found: unknown) => unknown,
): ResponseDraft {
  // Deeper paths come first, because a change further up could hide them.
  const deepFirst = paths.toSorted((one, other) => other.length - one.length);
  return {
    ...draft,
    body: deepFirst.reduce((body, path) => changedAt(body, path, change), draft.body),
  };
}

function unknownValue(random: Random): unknown {
  return random.pick([null, true, 'unknown', 17, [], ['unknown', 1], {}, { unknown: null }]);
}

function respelledTime(time: unknown, random: Random): unknown {
  const [, dateTime, fraction = ''] =
    (typeof time === 'string' && isTimestamp(time) && /^(.{19})(?:\.(\d+))?Z$/.exec(time)) || [];
  if (dateTime === undefined) return time;
  const digits =
    random.integer(0, 1) === 0 ? fraction.replace(/(?<!0)0+$/, '') : fraction.padEnd(6, '0');
  return `${dateTime}${digits === '' ? '' : `.${digits}`}${random.pick(['Z', '+00:00'])}`;
}

function withShuffledMembers(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((element) => withShuffledMembers(element, random));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    withShuffledMembers(member, random),
  ]);
  return Object.fromEntries(shuffleItems(members, random));
}

interface LinkRow extends Pick<VariationRow, 'id' | 'varies' | 'rule'> {
  readonly respell: (uri: string, random: Random) => string;
}

function linkRows(rows: readonly LinkRow[]): VariationRow[] {
  const idPathOf = ({ operation }: ResponseDraft): MemberPath | undefined =>
    operation?.response?.link;
  return rows.map(({ respell, ...row }) => ({
    ...row,
    appliesTo: (draft) => isSuccess(draft) && idPathOf(draft) !== undefined,
    apply: (draft, { random }) =>
      changedAtAll(draft, [idPathOf(draft) ?? ''], (uri) =>
        typeof uri === 'string' ? respell(uri, random) : uri,
      ),
  }));
}

interface StyleRow extends Pick<VariationRow, 'id' | 'varies' | 'rule'> {
  readonly liberty: keyof JsonStyle;
}

function styleRows(rows: readonly StyleRow[]): VariationRow[] {
  return rows.map(({ liberty, ...row }) => ({
    ...row,
    appliesTo: hasBody,
    apply: (draft, { random }) => ({
      ...draft,
      jsonStyle: { ...draft.jsonStyle, [liberty]: random.bytes(DICE_BYTES) },
    }),
  }));
}
