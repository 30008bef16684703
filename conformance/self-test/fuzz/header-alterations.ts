/** Alterations of the headers of responses. */
import type { Operation } from '../../../fixtures/contract/operation.ts';
import type { OperationId } from '../../../fixtures/contract/operations.ts';
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { withHeaders } from '../alter.ts';
import type { ProxiedResponse } from '../defect.ts';
import { type Alteration, aboutPart, type ViolatedLevel } from './alteration.ts';

type HeaderReplacement = (value: string) => string | undefined;

export function headerAlterations(id: OperationId, row: Operation): readonly Alteration[] {
  return [
    ...labels(row),
    ...(id === 'list-audit-logs' ? pageHeaders : []),
    ...(id === 'connect' ? upgradeHeaders : []),
    added(id),
    header('header-missing', 'nothing', 'date', () => undefined, aboutPart(id, 'status')),
  ];
}

function header(
  kind: string,
  violatedLevel: ViolatedLevel,
  name: string,
  value: HeaderReplacement,
  about: RequirementId,
  says = kind === 'header-missing' ? `without ${name}` : `with another ${name}`,
): Alteration {
  return {
    kind,
    says,
    violatedLevel,
    about,
    change: (response) => {
      const originalValue = response.headers[name];
      return originalValue === undefined
        ? response
        : withHeaders(response, { [name]: value(originalValue) });
    },
  };
}

function added(id: OperationId): Alteration {
  return {
    kind: 'header-added',
    says: 'with a header that the contract does not know',
    violatedLevel: 'nothing',
    about: aboutPart(id, 'status'),
    change: (response) => withHeaders(response, { 'x-fuzz': '1' }),
  };
}

/** Alters Content-Type on status 200 only, since the labels of refusals are altered elsewhere. */
function labels(row: Operation): readonly Alteration[] {
  const success = row.success[200];
  if (success?.shape === undefined && success?.mediaType === undefined) return [];
  const isExport = success.mediaType === 'text/csv';
  const violatedLevel = isExport ? 'must' : 'should';
  const about = isExport ? 'audit.export-media-type' : 'service.json-is-labelled';
  const isJson = success.mediaType === undefined;
  const wrongMediaType = isJson ? 'text/html' : 'application/json';
  const rows = [
    header(
      'content-type-altered',
      violatedLevel,
      'content-type',
      () => wrongMediaType,
      about,
      `200 as ${wrongMediaType}`,
    ),
    // The contract requires no Content-Type for a body that is neither JSON nor CSV.
    header(
      'content-type-missing',
      isJson || isExport ? violatedLevel : 'nothing',
      'content-type',
      () => undefined,
      about,
      '200 without Content-Type',
    ),
    header(
      'content-type-with-charset',
      'nothing',
      'content-type',
      (value) => `${value.replace(/;.*/, '')}; charset=utf-8`,
      about,
      '200 with a charset in Content-Type',
    ),
  ];
  return rows.map((each) => ({
    ...each,
    change: (response, request) =>
      response.status === 200 ? each.change(response, request) : response,
  }));
}

const total: RequirementId = 'audit.total';

const pageHeaders: readonly Alteration[] = [
  header('header-missing', 'must', 'x-total-count', () => undefined, total),
  header(
    'header-altered',
    'must',
    'x-total-count',
    () => 'many',
    total,
    'with a word as X-Total-Count',
  ),
  header(
    'header-altered',
    'must',
    'x-total-count',
    (value) => String(Number(value) + 1),
    total,
    'with X-Total-Count too high by one',
  ),
  header('header-altered', 'must', 'x-total-count', () => '0', total, 'with 0 in X-Total-Count'),
  header('header-missing', 'must', 'link', () => undefined, 'audit.links'),
  ...['first', 'next', 'prev'].map((relation) =>
    header(
      'header-altered',
      'must',
      'link',
      (value) => value.replace(`rel="${relation}"`, 'rel="fuzz"'),
      relation === 'first'
        ? 'audit.links'
        : relation === 'next'
          ? 'audit.link-next'
          : 'audit.link-prev',
      `with another relation instead of ${relation} in Link`,
    ),
  ),
  header(
    'header-altered',
    'must',
    'link',
    withFalsePage,
    'audit.link-prev',
    'always with both next and prev in Link',
  ),
];

/**
 * Adds a link with `next` or `prev`, where the response has none, to a page that does not exist.
 */
function withFalsePage(value: string): string {
  const [target = '<http://fuzz/>'] = value.split(';');
  return ['next', 'prev']
    .filter((relation) => !value.includes(`rel="${relation}"`))
    .reduce((link, relation) => `${link}, ${target}; rel="${relation}"`, value);
}

const upgradeHeaders: readonly Alteration[] = [
  header(
    'header-missing',
    'must',
    'sec-websocket-accept',
    () => undefined,
    'connect.accept-matches-the-key',
  ),
  header(
    'header-altered',
    'must',
    'sec-websocket-accept',
    reversedText,
    'connect.accept-matches-the-key',
  ),
  header('header-missing', 'must', 'upgrade', () => undefined, 'connect.switches-protocols'),
  header('header-altered', 'must', 'upgrade', () => 'h2c', 'connect.switches-protocols'),
].map((each) => ({ ...each, change: onUpgrade(each.change) }));

function onUpgrade(change: Alteration['change']): Alteration['change'] {
  return (response: ProxiedResponse, request) =>
    response.status === 101 ? change(response, request) : response;
}

function reversedText(value: string): string {
  return [...value].reverse().join('');
}
