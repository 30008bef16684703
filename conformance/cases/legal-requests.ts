/**
 * A valid request for each operation, and a check of its effect. Cases send these requests in other
 * forms. Spec: Endpoints
 */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { needInstructions, textIn } from '../context/instructions.ts';
import { boardType } from '../context/sample-artifacts.ts';
import {
  activeDeployment,
  deploymentOf,
  factoryProvides,
  needStatus,
  type OfferedDeployment,
} from '../context/start-states.ts';
import type { TestContext } from '../context/test-context.ts';
import type { Answer } from '../target/answer.ts';
import { ExpectationFailure, NotObservable, shownAnswer } from '../target/expectations.ts';
import type { WireRequest } from '../target/target.ts';
import { upgradeHeaders } from './connect-asking.ts';
import { alert, service } from './monitor-samples.ts';

/** A device with settings that has been offered deployments. */
export interface DeviceWithOffers extends OfferedDeployment {
  /** The id of a deployment with a control map; absent where the target has no maps. */
  readonly mapped?: OfferedDeployment;
}

/** Arranges a device with a configuration and a deployment, and a deployment with a control map. */
export async function deviceWithEverything(context: TestContext): Promise<DeviceWithOffers> {
  const arranged = await activeDeployment(context);
  await arranged.device.call('put-configuration', { body: { timezone: 'UTC' } });
  const hasMaps = 'get-update-control-map' in context.offered({ 'get-update-control-map': true });
  if (!hasMaps) return arranged;
  const states = { ArtifactInstall_Enter: { action: 'pause' } } as const;
  const given = await deploymentOf(context, 'plain', { priority: 3, states });
  const body = { device_provides: factoryProvides, update_control_map: true };
  const answer = await given.device.call('post-next-deployment-v2', { body });
  needStatus('an offered update', answer, 200);
  return { ...arranged, mapped: { ...given, id: textIn(needInstructions(answer), 'id') } };
}

/** A valid request, and a check of its effect. */
interface GoodRequest {
  /** Builds the request. The marker is part of the written data, to recognize its effect. */
  readonly request: (marker: string) => WireRequest;
  /** Sends the request; `TargetSession.send` by default. */
  readonly send?: (request: WireRequest) => Promise<Answer>;
  /** Reads the effect as a user or a device; resolves to true if the marker is present. */
  readonly holds?: (marker: string) => Promise<boolean>;
}

type GoodRequests = Readonly<Partial<Record<OperationId, GoodRequest>>>;

/** Returns the valid requests of a device that was offered a deployment, and of a user. */
function goodRequests(arranged: DeviceWithOffers, context: TestContext): GoodRequests {
  const { device, artifact, id, deploymentId, mapped } = arranged;
  const { admin } = context;
  const seen = (read: () => Promise<string>) => async (marker: string) =>
    (await context.settled(read, (text) => text.includes(marker))).includes(marker);
  const attributes = seen(async () => JSON.stringify(await admin.attributes(device.id)));
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
      request: () => device.request('get-next-deployment', { query: factoryProvides }),
    },
    'post-next-deployment': {
      request: () => device.request('post-next-deployment', { body: factoryProvides }),
    },
    'post-next-deployment-v2': {
      request: () =>
        device.request('post-next-deployment-v2', { body: { device_provides: factoryProvides } }),
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
      holds: seen(async () => (await admin.deploymentLog(deploymentId, device.id)) ?? ''),
    },
    'put-configuration': {
      request: (marker) => device.request('put-configuration', { body: { marker } }),
      holds: seen(async () => (await device.call('get-configuration')).text),
    },
    'get-configuration': { request: () => device.request('get-configuration') },
    'post-alerts': {
      request: (name) => device.request('post-alerts', { body: [{ ...alert, name }] }),
    },
    'post-monitor-configuration': {
      request: (name) =>
        device.request('post-monitor-configuration', { body: [{ ...service, name }] }),
      holds: seen(async () => JSON.stringify(await admin.monitorConfiguration(device.id))),
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
        const answer = await context.session.upgrade(request);
        answer.socket?.destroy();
        return answer;
      },
    },
    'post-auth-request': { request: () => device.authenticationRequest() },
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

/** The difference from a success: the expected and the actual answer, or a missing effect. */
export interface Mismatch {
  readonly expected: string;
  readonly actual: string;
}

/** An operation and a good request to it. */
export interface GoodRow {
  readonly id: OperationId;
  readonly good: GoodRequest;
}

/** Options for sending a valid request in another form. */
export interface LegalFormOptions {
  readonly change?: (request: WireRequest) => WireRequest;
  /** Sends the request; overrides `send` of the row. */
  readonly send?: (request: WireRequest) => Promise<Answer>;
  /** Statuses by which a target declines the form, as HTTP allows. */
  readonly declines?: readonly number[];
}

/** Sends the valid request; resolves to undefined if it succeeds and has its effect. */
export async function mismatchOf(
  context: TestContext,
  { id, good }: GoodRow,
  { change = (request) => request, declines = [], ...way }: LegalFormOptions = {},
): Promise<Mismatch | undefined> {
  const marker = context.newName();
  const send = way.send ?? good.send ?? ((request) => context.session.send(request));
  const answer = await send(change(good.request(marker)));
  if (declines.includes(answer.status)) return undefined;
  if (!(String(answer.status) in operations[id].success)) {
    return { expected: 'a success of the operation', actual: shownAnswer(answer) };
  }
  if (good.holds === undefined || (await good.holds(marker))) return undefined;
  return { expected: 'the effect of the request', actual: 'none' };
}

/** Returns the failure of an operation in a form. */
export function failureOf(
  id: OperationId,
  what: string,
  { expected, actual }: Mismatch,
): ExpectationFailure {
  const how = `${id}, ${what}: `;
  return new ExpectationFailure(how + expected, how + actual);
}

/** Returns NotObservable for a request that fails even in its normal form. */
export function notObservable(id: OperationId, { actual }: Mismatch): NotObservable {
  return new NotObservable(`${id} does not succeed in its normal form either: ${actual}`);
}

/** Returns the valid requests to the operations that the target has. */
export function requestsTo(arranged: DeviceWithOffers, context: TestContext): readonly GoodRow[] {
  const rows = Object.entries(context.offered(goodRequests(arranged, context)));
  return rows.map(([id, good]) => ({ id: id as OperationId, good }));
}

/** Throws if a request fails in this form although it succeeds in its normal form. */
export async function expectForm(
  context: TestContext,
  row: GoodRow,
  { what, sending }: { readonly what: string; readonly sending: LegalFormOptions },
): Promise<void> {
  const mismatch = await mismatchOf(context, row, sending);
  if (mismatch === undefined) return;
  const plainMismatch = await mismatchOf(context, row);
  if (plainMismatch) throw notObservable(row.id, plainMismatch);
  // If a repetition succeeds, the form was not the reason for the refusal.
  if ((await mismatchOf(context, row, sending)) === undefined)
    throw notObservable(row.id, mismatch);
  throw failureOf(row.id, what, mismatch);
}
