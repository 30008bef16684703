/**
 * The requests that keep a server busy longest: for every parser of untrusted data an input just
 * within its limits, and one far beyond them.
 */
import { apiPrefixes } from '../../../fixtures/contract/deprecations.ts';
import { limits } from '../../../fixtures/contract/limits.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { type Operation, pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { vendorNames } from '../../../fixtures/contract/vendor-names.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { requestBytes } from './wire.ts';
import { sendMessages, sendRequests } from './worst-senders.ts';
import {
  artifactPart,
  finelyDividedArtifacts,
  form,
  formBoundary,
  joinChunks,
  longText,
  members,
  smallValues,
} from './worst-structures.ts';

/** A parser with its worst input. */
export interface WorstRequest {
  /** Names the parser and the input. */
  readonly name: string;
  /**
   * Prepares the request. The returned function sends it, and resolves when the server has finished
   * with it.
   */
  prepare(target: FuzzTarget): Promise<() => Promise<void>>;
}

/** The headers and the body of a request. */
interface RequestParts {
  readonly headers?: readonly string[];
  readonly body?: Buffer;
}

type SenderKind = 'nobody' | 'device' | 'user' | 'control';

interface RequestRow {
  readonly as: SenderKind;
  /** The method and the path of the request line. */
  readonly line: string;
  /** Number of concurrent connections. */
  readonly times?: number;
  /** Number of requests on each connection, sent without waiting for responses. */
  readonly pipelined?: number;
  /** Creates what the request needs; its time does not count. */
  readonly setUp?: (target: FuzzTarget) => Promise<void>;
  readonly sent: () => RequestParts | Promise<RequestParts>;
}

const { bodyMaxBytes, bodyValuesMax, logValuesMax, msgpackValuesMax, uploadPartsMax } = limits;
/** Size of the header lines; the token and the request target need the rest of the limit. */
const HEADERS_BYTES = 14_000;
/** Number of values in nested lists of the greatest length; they fill 4 MiB. */
const MESSAGE_VALUES = 2048 ** 2;

const lineOf = ({ method, path }: Operation): string =>
  `${method} ${path.replace(/\{\w+\}/g, 'x')}`;
const patch = lineOf(operations['patch-attributes']);
const authRequest = lineOf(operations['post-auth-request']);
const log = lineOf(operations['put-deployment-log']);
const shortMessage = '{"timestamp":"2026-01-31T12:00:00Z","level":"i","message":"m"}';
const next = lineOf(operations['post-next-deployment-v2']);
const search = lineOf(managementOperations['search-inventory']);
const upload = lineOf(managementOperations['upload-artifact']);
const inventory = `GET ${pathOf(managementOperations['list-inventory'])}`;

/**
 * Returns an object with members just below the limit of values, and a string that fills it up to the
 * limit of bytes.
 */
const fullObject = (opening: string): string => {
  const values = `${opening}${members(bodyValuesMax - 100)},"z":"`;
  return `${values}${'z'.repeat(bodyMaxBytes - values.length - 100)}"`;
};
const json = (text: string): RequestParts => ({
  headers: ['Content-Type: application/json'],
  body: Buffer.from(text),
});
const formOf = (body: Buffer): RequestParts => ({
  headers: [`Content-Type: multipart/form-data; boundary=${formBoundary}`],
  body,
});
const filters = (count: number, filter: (index: number) => object): RequestParts =>
  json(
    JSON.stringify({
      filters: Array.from({ length: count }, (_, index) => ({
        scope: 'inventory',
        attribute: 'blob',
        ...filter(index),
      })),
    }),
  );
const yaml = (text: string): RequestParts => ({ body: Buffer.from(text) });
const onePattern = filters(1, () => ({ type: '$regex', value: '(\\w?){120}b$' }));
/** Number of attributes that fill a device; each value consists of characters that JSON escapes. */
const ATTRIBUTES = 98;
const CHARACTERS = 430;
const SORT_KEYS = 20;
const terms = Array.from({ length: SORT_KEYS }, (_, at) => ({
  scope: 'inventory',
  attribute: `a${at}`,
}));
const slowPattern = { type: '$regex', value: '(a*)*(b*)*z' };
const onePage = (search: object): RequestParts =>
  json(JSON.stringify({ page: 1, per_page: 1, ...search }));
const credentials = '{"id_data":"{}","pubkey":"x",';

const requests: Readonly<Record<string, RequestRow>> = {
  'JSON body, members beyond the limit': {
    as: 'device',
    line: patch,
    times: 16,
    sent: () => json(`{${members(90_000)}}`),
  },
  'JSON body, nothing but brackets': {
    as: 'device',
    line: patch,
    sent: () => json('['.repeat(bodyMaxBytes / 2) + ']'.repeat(bodyMaxBytes / 2)),
  },
  'JSON body, members within the limit': {
    as: 'device',
    line: next,
    times: 16,
    sent: () => json(`${fullObject('{"device_provides":{')}}}`),
  },
  'deployment log, members within the limit': {
    as: 'device',
    line: log,
    times: 16,
    sent: () => json(`{"messages":[{},{${members(logValuesMax - 100)}}]}`),
  },
  'deployment log, the shortest messages': {
    as: 'device',
    line: log,
    times: 16,
    sent: () =>
      json(`{"messages":[${joinChunks(bodyMaxBytes - 100, () => `${shortMessage},`)}{}]}`),
  },
  'authentication requests, members beyond the limit': {
    as: 'nobody',
    line: authRequest,
    times: 48,
    sent: () => json(`${credentials}${members(90_000)}}`),
  },
  'authentication requests, members within the limit': {
    as: 'nobody',
    line: authRequest,
    times: 48,
    sent: () => json(`${fullObject(credentials)}}`),
  },
  'authentication requests, members in their id_data': {
    as: 'nobody',
    line: authRequest,
    times: 48,
    sent: () => json(JSON.stringify({ id_data: `{${members(70_000)}}`, pubkey: 'x' })),
  },
  'multipart body, parts beyond the limit': {
    as: 'user',
    line: upload,
    sent: () => formOf(form(20_000)),
  },
  'multipart body, parts without heads beyond the limit': {
    as: 'user',
    line: upload,
    sent: () => formOf(Buffer.from(`--${formBoundary}\r\n\r\n\r\n`.repeat(1_000_000))),
  },
  'multipart body, parts behind the file': {
    as: 'user',
    line: upload,
    sent: () => formOf(form(100_000, artifactPart(Buffer.alloc(0)))),
  },
  'multipart body, heads within the limit': {
    as: 'user',
    line: upload,
    sent: () => {
      const disposition = `form-data; ${joinChunks(70_000, (index) => `a${index}="b"; `)}`;
      const part = `--${formBoundary}\r\nContent-Disposition: ${disposition}\r\n\r\n\r\n`;
      return formOf(Buffer.from(part.repeat(uploadPartsMax)));
    },
  },
  'YAML, lists beyond the limit': {
    as: 'control',
    line: 'POST /world',
    sent: () => yaml(`[${'a,'.repeat(200_000)}]`),
  },
  'YAML, members within the limit': {
    as: 'control',
    line: 'POST /world',
    sent: () => yaml(joinChunks(14_000, (index) => `k${index}: b\n`)),
  },
  'YAML, entries within the limit': {
    as: 'control',
    line: 'POST /world',
    sent: () => yaml(`devices:\n${'- {a: b}\n'.repeat(820)}`),
  },
  'YAML, rules within the limit': {
    as: 'control',
    line: 'POST /faults',
    sent: () => yaml(`rules:\n${'- {a: b}\n'.repeat(820)}`),
  },
  'query, many parameters': {
    as: 'user',
    line: `${inventory}?${joinChunks(HEADERS_BYTES, (at) => `a${at % 100}&`)}`,
    sent: () => ({}),
  },
  'query, one parameter many times': {
    as: 'user',
    line: `${inventory}?${joinChunks(HEADERS_BYTES, () => 'a&')}`,
    sent: () => ({}),
  },
  'headers, of many names': {
    as: 'user',
    line: inventory,
    sent: () => ({ headers: Array.from({ length: 1500 }, (_, index) => `a${index}: b`) }),
  },
  'headers, of one name': {
    as: 'user',
    line: inventory,
    sent: () => ({ headers: Array.from({ length: 1500 }, () => 'Cookie: b') }),
  },
  'headers, thousands on each of many connections': {
    as: 'nobody',
    line: 'GET /nope',
    times: 500,
    sent: () => ({ headers: Array.from({ length: 1500 }, (_, index) => `a${index}: b`) }),
  },
  'paths of thousands of segments, on many connections': {
    as: 'nobody',
    line: `GET ${apiPrefixes.device}v1/${'a/'.repeat(7000)}`,
    times: 500,
    sent: () => ({}),
  },
  'paths of thousands of escapes, on many connections': {
    as: 'nobody',
    line: `GET ${apiPrefixes.device}v1/${'%41/'.repeat(3500)}`,
    times: 500,
    sent: () => ({}),
  },
  'small requests, on many connections': {
    as: 'nobody',
    line: 'GET /nope',
    times: 1000,
    sent: () => ({}),
  },
  'filters, patterns': {
    as: 'user',
    line: search,
    // Sets of letters of all scripts, regardless of case, are slow to match.
    sent: () => filters(100, () => ({ type: '$regex', value: `(?i)${'\\PL'.repeat(80)}` })),
  },
  'filters, one pattern': {
    as: 'user',
    line: search,
    sent: () => onePattern,
  },
  'filters, one pattern, on one connection': {
    as: 'user',
    line: search,
    pipelined: 200,
    sent: () => onePattern,
  },
  'filters, one pattern, on many connections': {
    as: 'user',
    line: search,
    times: 200,
    sent: () => onePattern,
  },
  'YAML, small plans on one connection': {
    as: 'control',
    line: 'POST /faults',
    pipelined: 200,
    sent: () => yaml('rules:\n- match: {operation: x}\n  act: {kind: y}\n'),
  },
  'filters, values': {
    as: 'user',
    line: search,
    sent: () => {
      const value = Array.from({ length: 1000 }, (_, index) => `v${index}`);
      return filters(49, () => ({ type: '$in', value }));
    },
  },
  ...Object.fromEntries(
    Object.entries(finelyDividedArtifacts).map(([name, artifact]): [string, RequestRow] => [
      `artifact, ${name}`,
      {
        as: 'user',
        line: upload,
        sent: async () => formOf(form(0, artifactPart(await artifact()))),
      },
    ]),
  ),
  'inventory, the longest page of full devices': {
    as: 'user',
    line: `${inventory}?per_page=${limits.pageMax}`,
    times: 4,
    setUp: fillInventories,
    sent: () => ({}),
  },
  'inventory, full devices sorted by many attributes': {
    as: 'user',
    line: search,
    times: 4,
    setUp: fillInventories,
    sent: () => onePage({ sort: terms.map((place) => ({ ...place, order: 'desc' })) }),
  },
  'inventory, full devices with many conditions': {
    as: 'user',
    line: search,
    times: 4,
    setUp: fillInventories,
    sent: () => onePage({ filters: terms.map((place) => ({ ...place, ...slowPattern })) }),
  },
};

/** The worst requests for each parser of the server. */
export const worstRequests: readonly WorstRequest[] = [
  ...(['device', 'user'] as const).flatMap((from) => [
    {
      name: `WebSocket of a ${from}, one message beyond the limit of values`,
      prepare: sendMessages(from, { message: smallValues(MESSAGE_VALUES), times: 1 }),
    },
    {
      name: `WebSocket of a ${from}, messages within the limit of values`,
      prepare: sendMessages(from, { message: smallValues(msgpackValuesMax / 2), times: 1000 }),
    },
    {
      name: `WebSocket of a ${from}, long texts that are not UTF-8`,
      prepare: sendMessages(from, { message: longText(), times: 16 }),
    },
    {
      name: `WebSocket of a ${from}, small messages`,
      prepare: sendMessages(from, { message: smallValues(0), times: 50_000 }),
    },
  ]),
  ...Object.entries(requests).map(([name, row]) => ({ name, prepare: prepareRequest(row) })),
  {
    name: 'requests that do not wait for their responses',
    prepare: async ({ ready }) => {
      const bytes = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40_000));
      return () => sendRequests(ready.baseUrl, bytes, 1);
    },
  },
];

function prepareRequest({
  as,
  line,
  times = 1,
  pipelined = 1,
  setUp,
  sent,
}: RequestRow): WorstRequest['prepare'] {
  return async (target) => {
    await setUp?.(target);
    const { ready } = target;
    const { headers = [], body = Buffer.alloc(0) } = await sent();
    const lines = [
      `${line} HTTP/1.1`,
      'Host: 127.0.0.1',
      `${vendorNames(ready.headerPrefix).signature}: x`,
      ...authorizationOf(target, as),
      ...headers,
      ...(body.length > 0 ? [`Content-Length: ${body.length}`] : []),
    ];
    const otherRequests = Array.from({ length: pipelined - 1 }, () => requestBytes(lines, body));
    const last = requestBytes([...lines, 'Connection: close'], body);
    const bytes = Buffer.concat([...otherRequests, last]);
    const url = as === 'control' ? ready.controlUrl : ready.baseUrl;
    return () => sendRequests(url, bytes, times);
  };
}

function authorizationOf({ insider, ready }: FuzzTarget, as: SenderKind): readonly string[] {
  if (as === 'nobody') return [];
  const { deviceToken: device, userToken: user } = insider;
  const tokens = { device, user, control: ready.controlToken };
  return [`Authorization: Bearer ${tokens[as]}`];
}

/** Fills the inventory of every device with as much data as it may hold. */
async function fillInventories({ ready, deviceTokens }: FuzzTarget): Promise<void> {
  const { method, path } = operations['put-attributes'];
  const value = '\u0001'.repeat(CHARACTERS);
  const attributes = Array.from({ length: ATTRIBUTES }, (_, at) => ({ name: `a${at}`, value }));
  const body = JSON.stringify(attributes);
  for (const token of deviceTokens) {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const response = await fetch(ready.baseUrl + path, { method, headers, body });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`a full inventory was answered with ${response.status}`);
  }
}
