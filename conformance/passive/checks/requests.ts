/**
 * Passive checks that compare a response with its request, such as IDs and filters.
 * Spec: Endpoints; Device deployments v1; Device deployments v2; Device connect
 */
import { createHash } from 'node:crypto';
import { isArtifactFile } from '../../target/configuration-body.ts';
import { describeValue, responseSummary } from '../../target/expectations.ts';
import type { PassiveCheck, Violation } from '../check.ts';
import type { JudgedExchange } from '../judged-exchange.ts';
import { memberAt, timeOf } from '../response-parts.ts';
import type { RunHistory } from '../run-history.ts';

const LIST_MAX = 100;
const SWITCHED = 101;
const TAR_BLOCK_BYTES = 512;
/** The GUID that a server appends to the key of a WebSocket handshake. RFC 6455, section 1.3 */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

function isSuccessOf(exchange: JudgedExchange, ...ids: readonly string[]): boolean {
  const { operation, status, hasBody, isOrdinary } = exchange;
  return status === 200 && hasBody && isOrdinary && ids.includes(operation.id);
}

function listViolation(pointer: string, expected: string, value: unknown): Violation {
  return { part: `200 body: ${pointer}`, expected, actual: describeValue(value) };
}

function undocumentedArtifact(exchange: JudgedExchange): Violation | undefined {
  const list = exchange.responseJson;
  if (!Array.isArray(list)) return undefined;
  if (list.length > LIST_MAX) {
    const violation = listViolation('', `hold at most ${LIST_MAX} artifacts`, list.length);
    return { ...violation, requirement: 'artifacts.list-bound' };
  }
  const release = exchange.parameter('release_name');
  const type = exchange.parameter('device_type');
  for (const [index, artifact] of list.entries()) {
    const name = memberAt(artifact, ['name']);
    if (release !== undefined && typeof name === 'string' && name !== release) {
      const violation = listViolation(
        `/${index}/name`,
        `be the requested release, ${describeValue(release)}`,
        name,
      );
      return { ...violation, requirement: 'artifacts.list-selects-release' };
    }
    const types = memberAt(artifact, ['device_types_compatible']);
    if (type !== undefined && Array.isArray(types) && !types.includes(type)) {
      const pointer = `/${index}/device_types_compatible`;
      const violation = listViolation(
        pointer,
        `include the requested type, ${describeValue(type)}`,
        types,
      );
      return { ...violation, requirement: 'artifacts.list-selects' };
    }
  }
  return undefined;
}

function otherId(steps: readonly string[], expectedIdOf: (exchange: JudgedExchange) => unknown) {
  return (exchange: JudgedExchange): Violation | undefined => {
    const id = memberAt(exchange.responseJson, steps);
    const expectedId = expectedIdOf(exchange);
    if (typeof id !== 'string' || typeof expectedId !== 'string' || id === expectedId)
      return undefined;
    return listViolation(`/${steps.join('/')}`, `be ${describeValue(expectedId)}`, id);
  };
}

/**
 * Checks the ID of an update control map. Version 2 may use an ID for each device that differs from
 * the ID in the map, but the map of one deployment must have the same ID in every response.
 */
function otherMap(
  exchange: JudgedExchange,
  run: RunHistory,
  { deployment, at }: { readonly deployment: unknown; readonly at: readonly string[] },
): Violation | undefined {
  const id = memberAt(exchange.responseJson, at);
  if (typeof id !== 'string' || typeof deployment !== 'string' || id === deployment) {
    return undefined;
  }
  const earlierId = run.earlierValue(`ID of the map of ${deployment}`, id, Object.is);
  if (earlierId === undefined) return undefined;
  return listViolation(`/${at.join('/')}`, `be ${describeValue(earlierId)}, as before`, id);
}

/** Returns a violation if a link is expired at the time of the response, when both are known. */
function pastEnd(exchange: JudgedExchange, steps: readonly string[]): Violation | undefined {
  const expire = memberAt(exchange.responseJson, steps);
  const { date = '' } = exchange.response.headers;
  const [endMs, nowMs] = [timeOf(expire), Date.parse(date)];
  if (endMs === undefined || Number.isNaN(nowMs) || endMs > nowMs) return undefined;
  return listViolation(
    `/${steps.join('/')}`,
    `be later than the response, ${describeValue(date)}`,
    expire,
  );
}

function expires(id: string, requirement: 'link.expire-is-later' | 'next.source-expires-later') {
  const isLink = requirement === 'link.expire-is-later';
  const ids = isLink
    ? ['get-artifact-link']
    : ['get-next-deployment', 'post-next-deployment', 'post-next-deployment-v2'];
  const steps = isLink ? ['expire'] : ['artifact', 'source', 'expire'];
  return {
    id,
    requirement,
    applies: (exchange) => isSuccessOf(exchange, ...ids),
    violation: (exchange) => pastEnd(exchange, steps),
  } satisfies PassiveCheck;
}

/**
 * Returns true if every entry of a tar file has the length that its header states, or if the bytes
 * are not a tar file.
 */
function isWholeTar(bytes: Buffer): boolean {
  if (!isArtifactFile(bytes)) return true;
  let at = 0;
  while (at + TAR_BLOCK_BYTES <= bytes.length && bytes[at] !== 0) {
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 136), 8);
    // An invalid or negative length makes the next header unreachable; another check covers it.
    if (!(size >= 0)) return true;
    at += TAR_BLOCK_BYTES * (1 + Math.ceil(size / TAR_BLOCK_BYTES));
  }
  // Writers may omit the final zero blocks of a tar file, so only entries are checked.
  return at <= bytes.length && bytes[at] !== undefined;
}

export const requestChecks: readonly PassiveCheck[] = [
  {
    id: 'artifact-of-the-path',
    requirement: 'artifacts.fields',
    applies: (exchange) => isSuccessOf(exchange, 'get-artifact'),
    violation: otherId(['id'], (exchange) => exchange.segment().toLowerCase()),
  },
  {
    id: 'listed-artifacts-suit',
    applies: (exchange) => isSuccessOf(exchange, 'list-artifacts'),
    violation: undocumentedArtifact,
  },
  {
    id: 'map-of-the-deployment',
    requirement: 'map.id-is-the-deployment',
    applies: (exchange) => isSuccessOf(exchange, 'get-update-control-map'),
    violation: (exchange, { run }) =>
      otherMap(exchange, run, {
        deployment: exchange.deploymentId,
        at: ['update_control_map', 'id'],
      }),
  },
  {
    id: 'map-in-instructions',
    requirement: 'next.control-map-id',
    applies: (exchange) => isSuccessOf(exchange, 'post-next-deployment-v2'),
    violation: (exchange, { run }) =>
      otherMap(exchange, run, {
        deployment: memberAt(exchange.responseJson, ['id']),
        at: ['artifact', 'update_control_map', 'id'],
      }),
  },
  {
    id: 'no-artifact-id-in-v2',
    requirement: 'next.artifact-id-in-v2',
    applies: (exchange) => isSuccessOf(exchange, 'post-next-deployment-v2'),
    violation: ({ responseJson }) => {
      const id = memberAt(responseJson, ['artifact', 'id']);
      if (id === undefined) return undefined;
      return { part: '200 body: /artifact/id', expected: 'be absent', actual: describeValue(id) };
    },
  },
  expires('link-expires-later', 'link.expire-is-later'),
  expires('source-expires-later', 'next.source-expires-later'),
  {
    id: 'configuration-is-whole',
    requirement: 'download.gives-the-configuration',
    applies: ({ operation, status, hasBody }) =>
      operation.id === 'download-configuration' && status === 200 && hasBody,
    violation: ({ response }) => {
      const isWhole = response.bytes.length > 0 && isWholeTar(response.bytes);
      if (isWhole) return undefined;
      return {
        part: '200 body',
        expected: 'be a complete file',
        actual: responseSummary(response),
      };
    },
  },
  {
    id: 'accept-matches-the-key',
    requirement: 'connect.accept-matches-the-key',
    applies: (exchange) =>
      exchange.status === SWITCHED && exchange.header('sec-websocket-key') !== undefined,
    violation: (exchange) => {
      const key = exchange.header('sec-websocket-key') ?? '';
      const expectedAccept = createHash('sha1')
        .update(`${key.trim()}${acceptSuffix}`)
        .digest('base64');
      const accept = exchange.response.headers['sec-websocket-accept'];
      if (accept === expectedAccept) return undefined;
      const expected = `be ${expectedAccept}, which answers the key`;
      return {
        part: '101 Sec-WebSocket-Accept',
        expected,
        actual: describeValue(accept ?? 'none'),
      };
    },
  },
  {
    id: 'response-upgrade',
    requirement: 'connect.response-upgrade',
    applies: ({ operation, status }) => operation.id === 'connect' && status === SWITCHED,
    violation: ({ response }) => {
      const { upgrade } = response.headers;
      if (upgrade?.toLowerCase() === 'websocket') return undefined;
      return {
        part: '101 Upgrade',
        expected: 'be websocket',
        actual: describeValue(upgrade ?? 'none'),
      };
    },
  },
];
