/**
 * A valid request for each operation, and a check of its effect. Cases send these requests in other
 * variants. Spec: Endpoints
 */
import { parsedJson } from '../../../fixtures/base/json.ts';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import { boardType } from '../../context/sample-artifacts.ts';
import {
  deploymentOf,
  deviceAndArtifact,
  factoryProvides,
  instructedId,
  type OfferedDeployment,
  requireResponse,
  twoDevices,
} from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { ExpectationFailure, NotObservable, responseSummary } from '../../target/expectations.ts';
import type { HttpResponse } from '../../target/response.ts';
import type { WireRequest } from '../../target/target.ts';
import { upgradeHeaders } from '../connect/upgrade-request.ts';
import { alert, service } from '../monitor/monitor-samples.ts';

/** A device with a configuration that has been offered deployments. */
export interface DeviceWithOffers extends OfferedDeployment {
  /**
   * The devices that poll for the same deployment by each variant of the request, since a server
   * may answer 409 when one device polls with other data than before.
   */
  readonly pollers: Readonly<Record<PollOperationId, SuiteDevice>>;
  /** The ID of a deployment with a control map; absent where the target has no maps. */
  readonly mapped?: OfferedDeployment;
}

type PollOperationId = 'get-next-deployment' | 'post-next-deployment' | 'post-next-deployment-v2';

/** Arranges a device with a configuration and a deployment, and a deployment with a control map. */
export async function deviceWithEverything(context: TestContext): Promise<DeviceWithOffers> {
  const { device, artifact } = await deviceAndArtifact(context, 'plain');
  const { device: first, otherDevice: second } = await twoDevices(context);
  const { id: deploymentId, name: deploymentName } = await context.deploy({
    artifact_name: artifact.name,
    devices: [device, first, second].map(({ id }) => id),
  });
  const response = await device.call('get-next-deployment', { query: factoryProvides });
  const arranged = {
    device,
    artifact,
    deploymentId,
    deploymentName,
    id: instructedId(response),
    pollers: {
      'get-next-deployment': device,
      'post-next-deployment': first,
      'post-next-deployment-v2': second,
    },
  };
  await device.call('put-configuration', { body: { timezone: 'UTC' } });
  const hasMaps = 'get-update-control-map' in context.offered({ 'get-update-control-map': true });
  if (!hasMaps) return arranged;
  const states = { ArtifactInstall_Enter: { action: 'pause' } } as const;
  const deployment = await deploymentOf(context, 'plain', { priority: 3, states });
  const body = { device_provides: factoryProvides, update_control_map: true };
  const offerResponse = await deployment.device.call('post-next-deployment-v2', { body });
  return { ...arranged, mapped: { ...deployment, id: instructedId(offerResponse) } };
}

/** A valid request, and a check of its effect. */
interface ValidRequest {
  /** Builds the request. The marker is part of the written data, to recognize its effect. */
  readonly request: (marker: string) => WireRequest;
  /** Sends the request; `TargetClient.send` by default. */
  readonly send?: (request: WireRequest) => Promise<HttpResponse>;
  /** Reads the effect as a user or a device; resolves to true if the marker is present. */
  readonly holds?: (marker: string) => Promise<boolean>;
}

type ValidRequests = Readonly<Partial<Record<OperationId, ValidRequest>>>;

/** Returns true if a text in the value, at any depth, contains the marker. */
export function containsMarker(value: unknown, marker: string): boolean {
  if (typeof value === 'string') return value.includes(marker);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((each) => containsMarker(each, marker));
}

/** Returns the valid requests of a device that was offered a deployment, and of a user. */
function validRequests(arranged: DeviceWithOffers, context: TestContext): ValidRequests {
  const { device, artifact, id, deploymentId, mapped, pollers } = arranged;
  const { admin } = context;
  const readerOf = (read: () => Promise<unknown>) => async (marker: string) =>
    containsMarker(
      await context.eventually(read, (value) => containsMarker(value, marker)),
      marker,
    );
  const attributes = readerOf(() => admin.attributes(device.id));
  const path = { id: artifact.id };
  return {
    'list-artifacts': {
      request: () =>
        device.request('list-artifacts', {
          query: { release_name: artifact.name, device_type: boardType },
        }),
    },
    'get-artifact': { request: () => device.request('get-artifact', { path }) },
    'get-artifact-link': { request: () => device.request('get-artifact-link', { path }) },
    'get-next-deployment': {
      request: () =>
        pollers['get-next-deployment'].request('get-next-deployment', { query: factoryProvides }),
    },
    'post-next-deployment': {
      request: () =>
        pollers['post-next-deployment'].request('post-next-deployment', { body: factoryProvides }),
    },
    'post-next-deployment-v2': {
      request: () =>
        pollers['post-next-deployment-v2'].request('post-next-deployment-v2', {
          body: { device_provides: factoryProvides },
        }),
    },
    'put-deployment-status': {
      request: () =>
        device.request('put-deployment-status', { path: { id }, body: { status: 'downloading' } }),
    },
    'put-deployment-log': {
      request: (message) =>
        device.request('put-deployment-log', {
          path: { id },
          body: { messages: [{ timestamp: '2026-01-31T12:00:00Z', level: 'info', message }] },
        }),
      holds: readerOf(() => admin.deploymentLog(deploymentId, device.id)),
    },
    'put-configuration': {
      request: (marker) => device.request('put-configuration', { body: { marker } }),
      holds: readerOf(async () => parsedJson((await device.call('get-configuration')).text)),
    },
    'get-configuration': { request: () => device.request('get-configuration') },
    'post-alerts': {
      request: (name) => device.request('post-alerts', { body: [{ ...alert, name }] }),
    },
    'post-monitor-configuration': {
      request: (name) =>
        device.request('post-monitor-configuration', { body: [{ ...service, name }] }),
      holds: readerOf(() => admin.monitorConfiguration(device.id)),
    },
    'patch-attributes': {
      request: (value) => device.request('patch-attributes', { body: [{ name: 'marker', value }] }),
      holds: attributes,
    },
    'put-attributes': {
      request: (value) => device.request('put-attributes', { body: [{ name: 'marker', value }] }),
      holds: attributes,
    },
    ...(mapped && {
      'get-update-control-map': {
        request: () => mapped.device.request('get-update-control-map', { path: { id: mapped.id } }),
      },
    }),
    connect: {
      request: () => device.request('connect', { headers: upgradeHeaders }),
      send: async (request) => {
        const response = await context.client.upgrade(request);
        response.socket?.destroy();
        return response;
      },
    },
    // With white space, which is signed as sent in every version of HTTP.
    'post-auth-request': {
      request: () => {
        const text = JSON.stringify(JSON.parse(device.authRequest()), undefined, 2);
        return device.authenticationRequest({ text });
      },
    },
    'list-audit-logs': {
      request: () =>
        admin.caller.request('list-audit-logs', { query: { per_page: 2, sort: 'asc' } }),
    },
    'export-audit-logs': {
      request: () =>
        admin.caller.request('export-audit-logs', { query: { limit: 2, sort: 'asc' } }),
    },
  };
}

/** The difference from a success: the expected and the actual response, or a missing effect. */
export interface Mismatch {
  readonly expected: string;
  readonly actual: string;
  /** The response, if it was no success of the operation. */
  readonly response?: HttpResponse;
}

/** An operation and a valid request to it. */
export interface ValidRequestRow {
  readonly id: OperationId;
  readonly validRequest: ValidRequest;
}

/** Options for sending a valid request in another variant. */
export interface RequestVariantOptions {
  readonly change?: (request: WireRequest) => WireRequest;
  /** Sends the request; overrides `send` of the row. */
  readonly send?: (request: WireRequest) => Promise<HttpResponse>;
  /** Statuses by which a target declines the variant, as HTTP allows. */
  readonly declines?: readonly number[];
  /** The text by which the effect of the request is recognized; a new one by default. */
  readonly marker?: string;
}

/** Sends the valid request; resolves to undefined if it succeeds and has its effect. */
export async function mismatchOf(
  context: TestContext,
  { id, validRequest }: ValidRequestRow,
  {
    change = (request) => request,
    declines = [],
    marker = context.newName(),
    ...way
  }: RequestVariantOptions = {},
): Promise<Mismatch | undefined> {
  const send = way.send ?? validRequest.send ?? ((request) => context.client.send(request));
  const response = await send(change(validRequest.request(marker)));
  if (declines.includes(response.status)) return undefined;
  if (!(String(response.status) in operations[id].success)) {
    return { expected: 'a success of the operation', actual: responseSummary(response), response };
  }
  if (validRequest.holds === undefined || (await validRequest.holds(marker))) return undefined;
  return { expected: 'the effect of the request', actual: 'none' };
}

/** Returns the failure of an operation in a variant. */
export function failureOf(
  id: OperationId,
  what: string,
  { expected, actual }: Mismatch,
): ExpectationFailure {
  const how = `${id}, ${what}: `;
  return new ExpectationFailure(how + expected, how + actual);
}

/**
 * Returns NotObservable for a request that fails even as it is usually sent. Throws
 * StartStateNotReached if the request was refused.
 */
export function notObservable(id: OperationId, { actual, response }: Mismatch): NotObservable {
  if (response) requireResponse(id, response, Number(Object.keys(operations[id].success)[0]));
  return new NotObservable(`${id} does not succeed as it is usually sent either: ${actual}`);
}

/** Returns the valid requests to the operations that the target has. */
export function requestsTo(
  arranged: DeviceWithOffers,
  context: TestContext,
): readonly ValidRequestRow[] {
  const rows = Object.entries(context.offered(validRequests(arranged, context)));
  return rows.map(([id, validRequest]) => ({ id: id as OperationId, validRequest }));
}

/** Throws if a request fails in this variant although it succeeds as it is usually sent. */
export async function expectVariant(
  context: TestContext,
  row: ValidRequestRow,
  { prefix: what, sending }: { readonly prefix: string; readonly sending: RequestVariantOptions },
): Promise<void> {
  const mismatch = await mismatchOf(context, row, sending);
  if (mismatch === undefined) return;
  const plainMismatch = await mismatchOf(context, row);
  if (plainMismatch) throw notObservable(row.id, plainMismatch);
  // If a repetition succeeds, the variant was not the reason for the refusal.
  if ((await mismatchOf(context, row, sending)) === undefined)
    throw notObservable(row.id, mismatch);
  throw failureOf(row.id, what, mismatch);
}
