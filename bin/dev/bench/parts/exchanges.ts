/** The table of device exchanges by which the server is measured. */
import type { Request } from 'autocannon';
import { pathOf } from '../../../../fixtures/contract/operation.ts';
import { operations } from '../../../../fixtures/contract/operations.ts';
import type { AuthenticatedDevice } from '../authenticated-devices.ts';

/** An exchange whose rate is measured against bare node:http. */
export interface BenchExchange {
  readonly title: string;
  /** Least ratio of the server's rate to that of bare `node:http`. */
  readonly goal: number;
  readonly status: number;
  /** Returns the requests of a device, in order. */
  readonly requests: (device: AuthenticatedDevice) => readonly Request[];
}

/** The device type that every device reports. */
export const deviceType = 'board';
/** The artifact that every device has installed. */
const artifactName = 'release-1';
const ATTRIBUTES = 20;

const query = new URLSearchParams({ artifact_name: artifactName, device_type: deviceType });
const provides = { device_provides: { device_type: deviceType, artifact_name: artifactName } };
const attributes = Array.from({ length: ATTRIBUTES }, (_, at) => ({
  name: `attribute-${at}`,
  value: `value ${at}`,
}));

/** Returns a device's request for the next update. */
export function pollRequest({ token }: AuthenticatedDevice): Request {
  const { method, path } = operations['get-next-deployment'];
  return { method, path: `${pathOf({ path })}?${query}`, headers: bearer(token) };
}

/** The poll, which also measures the cost of the journal. */
export const poll: BenchExchange = {
  title: 'GET next -> 204',
  goal: 0.75,
  status: 204,
  requests: (device) => [pollRequest(device)],
};

/** The exchanges of a device without a deployment. */
export const idleExchanges: readonly BenchExchange[] = [
  poll,
  {
    title: 'POST next v2 -> 204',
    goal: 0.75,
    status: 204,
    requests: ({ token }) => [withBody('post-next-deployment-v2', token, provides)],
  },
  {
    title: `PATCH inventory of ${ATTRIBUTES} attributes`,
    goal: 0.25,
    status: 200,
    requests: ({ token }) => [withBody('patch-attributes', token, attributes)],
  },
];

/**
 * Returns the exchanges of a device with a deployment, after every device has polled once and been
 * offered it.
 */
export function updateExchanges(deploymentId: string): readonly BenchExchange[] {
  return [
    {
      title: 'GET next -> 200 with an update',
      goal: 0.4,
      status: 200,
      requests: (device) => [pollRequest(device)],
    },
    {
      title: 'PUT status that changes state',
      goal: 0.3,
      status: 204,
      requests: ({ token }) =>
        ['installing', 'downloading'].map((status) => statusReport(token, deploymentId, status)),
    },
  ];
}

function statusReport(token: string, id: string, status: string): Request {
  const { method, path } = operations['put-deployment-status'];
  const headers = { ...bearer(token), ...json };
  return { method, path: pathOf({ path }, { id }), headers, body: JSON.stringify({ status }) };
}

function withBody(
  id: 'post-next-deployment-v2' | 'patch-attributes',
  token: string,
  body: unknown,
): Request {
  const { method, path } = operations[id];
  const headers = { ...bearer(token), ...json };
  return { method, path: pathOf({ path }), headers, body: JSON.stringify(body) };
}

const json = { 'content-type': 'application/json' };

/** Returns the header that authenticates a caller. */
export function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}
