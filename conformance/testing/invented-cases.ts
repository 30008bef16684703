/** Checks the exchanges of invented cases with the trackers, for their tests. */
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { SuiteTrafficJudge } from '../passive/suite-traffic-judge.ts';
import type { AllowanceId } from '../passive/trackers/allowances.ts';
import { exchangeOf } from '../target/exchange.ts';
import { TransportFailure } from '../target/transport-failure.ts';

const base = 'http://host';
const rows = { ...managementOperations, ...operations };
export const device = '0f4a1c52-6f0e-4d4b-9d51-0e9a8f0c7b11';
export const deployment = '1f4a1c52-6f0e-4d4b-9d51-0e9a8f0c7b22';
const date = 'Sat, 31 Jan 2026 12:00:00 GMT';

/** One exchange of an invented case. */
export interface Step {
  readonly id: keyof typeof rows;
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly sent?: unknown;
  /** Zero for a request that gets no response. */
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Times in milliseconds; each step follows the one before if they are absent. */
  readonly from?: number;
  readonly to?: number;
}

/**
 * Returns the requirements that the exchanges of one case violate, in order.
 * @param without an allowance that the trackers do without
 */
export function violatedBy(steps: readonly Step[], without?: AllowanceId): readonly string[] {
  const judge = new SuiteTrafficJudge(base, vendorNames('X-SVC'), { without }).forCase();
  for (const [index, step] of steps.entries()) {
    const { id, path = {}, query = '', sent, status, body, headers = {} } = step;
    const { from = index * 10, to = from + 5 } = step;
    const filled = rows[id].path.replace(/\{(\w+)\}/g, (_, name) => path[name] ?? 'x');
    const url = `${base}${filled}${query}`;
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const isJson = typeof body === 'object';
    const outcome = {
      status,
      text,
      bytes: Buffer.from(text),
      headers: { date, ...(isJson && { 'content-type': 'application/json' }), ...headers },
    };
    const request = {
      method: rows[id].method,
      url,
      headers: { authorization: 'Bearer a-token', 'content-type': 'application/json' },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
    };
    const result = status > 0 ? outcome : new TransportFailure('connection-closed', 'closed');
    const exactly = { startMs: from, elapsedMs: to - from };
    const record = exchangeOf({ ...request, url }, result, exactly);
    judge.judge({ request, url, outcome: result, record, exactly });
  }
  return judge.violations.flatMap(({ requirements }) => requirements);
}

/** A device that was accepted, with a deployment. */
export const preauthorization: readonly Step[] = [
  {
    id: 'preauthorize-device',
    sent: { identity_data: { mac: '1' }, pubkey: 'a key' },
    status: 201,
    headers: { location: `devices/${device}` },
  },
  {
    id: 'post-auth-request',
    sent: { id_data: '{"mac":"1"}', pubkey: 'a key' },
    status: 200,
    body: 'a-token',
    headers: { 'content-type': 'application/jwt' },
  },
  {
    id: 'create-deployment',
    sent: { name: 'one', artifact_name: 'release-1', devices: [device] },
    status: 201,
    headers: { location: `/api/management/v1/deployments/deployments/${deployment}` },
  },
];
