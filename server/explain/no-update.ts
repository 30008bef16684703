/** Explains why a device got no update, or would get none now. */
import { operations } from '../../fixtures/contract/operations.ts';
import type { ResponseOf } from '../../fixtures/control/operations.ts';
import type { ExchangeRecord } from '../http/exchange-record.ts';
import { maskText } from '../http/masking.ts';
import { jsonObject } from '../journal/derived-fields.ts';
import { POLL_DATA_MAX_CHARACTERS, pollDataIn } from '../journal/last-poll.ts';
import { journalOf } from '../journal/tenant-journal.ts';
import { mayTryAgain } from '../rules/device-deployment.ts';
import { withholdingCondition } from '../rules/device-deployment-choice.ts';
import {
  chooseOrExplain,
  decideInstruction,
  type OpenDeviceDeployments,
} from '../rules/instruction.ts';
import type { NextRequest } from '../rules/next-deployment.ts';
import { type NoUpdate, withInstalledArtifact } from '../rules/no-update.ts';
import {
  labelOf,
  pairsText,
  remedyOf,
  timeText,
  withheldText,
} from '../rules/no-update-sentences.ts';
import { candidate } from '../store/artifacts.ts';
import type { DeviceDeploymentWithFacts } from '../store/device-deployment-rows.ts';
import type { LastPoll } from '../store/last-poll.ts';
import type { Tenant } from '../tenants/tenants.ts';
import { outcomeOf } from './no-update-view.ts';
import { passedConditions } from './passed-conditions.ts';

/** The explanation: why a device gets no update, or that it gets one. */
export type NoUpdateExplanation = ResponseOf<'GET /explanations'>;

type PollResult = Pick<NoUpdateExplanation, 'outcome' | 'condition' | 'reason' | 'passed'> & {
  readonly deploymentId?: string | undefined;
  readonly remedy?: string | undefined;
};

const DEPLOYMENTS_MAX = 10;

/** Explains why a poll was answered without an update. Returns undefined for any other response. */
export function explainPoll(
  record: ExchangeRecord,
  tenant: Tenant,
): NoUpdateExplanation | undefined {
  const { noUpdate, deviceId, atMs, requestId, operation, body, bodyBytes } = record;
  if (!noUpdate || deviceId === undefined || operation === undefined) return undefined;
  const isWhole = (body?.length ?? 0) === bodyBytes;
  const request = requestOf(operation, isWhole ? pollDataIn(record) : undefined);
  const valid = { condition: 'accepted', sentence: 'the device sent a valid token' };
  const { passed, ...result } = resultOf(noUpdate, tenant, request);
  return {
    requestId,
    ...explanationOf(
      { tenant, id: deviceId, nowMs: atMs },
      { ...result, passed: [valid, ...passed] },
    ),
    polled: polledText(atMs, request),
    deployments: [],
  };
}

/** Explains how the server would answer the device's last poll now. */
export function explainDevice(deviceId: string, tenant: Tenant): NoUpdateExplanation {
  const device = { tenant, id: deviceId, nowMs: tenant.clock.now() };
  const lastPoll = tenant.store.devices.cache.find(deviceId)?.lastPoll;
  const request = lastPoll && requestOf(lastPoll.operation, lastPoll.content);
  const result = resultNow(device, lastPoll, request);
  return {
    ...explanationOf(device, result),
    polled: lastPoll ? polledText(lastPoll.atMs, request) : 'not since the server started',
    deployments: otherDeployments(device, result.deploymentId),
  };
}

/** A device at a point in time. */
interface DeviceAtTime {
  readonly tenant: Tenant;
  readonly id: string;
  readonly nowMs: number;
}

function explanationOf({ tenant, id, nowMs }: DeviceAtTime, result: PollResult) {
  const identity = tenant.store.devices.find(id)?.identity;
  const { outcome, condition, deploymentId, reason, remedy, passed } = result;
  return {
    tenant: tenant.name,
    at: timeText(nowMs),
    device: { id, ...(identity !== undefined && { identity: maskText(identity) }) },
    outcome,
    ...(condition !== undefined && { condition }),
    ...(deploymentId !== undefined && { deploymentId }),
    reason: maskText(reason),
    ...(remedy !== undefined && { remedy }),
    passed: passed.map(({ condition, sentence }) => ({ condition, sentence: maskText(sentence) })),
  };
}

function resultNow(device: DeviceAtTime, lastPoll?: LastPoll, request?: NextRequest): PollResult {
  const { tenant, id } = device;
  const status = tenant.store.devices.find(id)?.status ?? 'unknown';
  if (status !== 'accepted') {
    const [reason, remedy] = waitingFor(id)[status];
    return noUpdateResult('accepted', reason, remedy);
  }
  const acceptedCondition = { condition: 'accepted', sentence: 'a user has accepted the device' };
  const { passed, ...result } = lastPoll?.refused
    ? noUpdateResult(
        'polling',
        refusedText(lastPoll, lastPoll.refused, tenant),
        'correct the request of the device as the refusal says',
      )
    : resultOfPoll(device, lastPoll, request);
  return { ...result, passed: [acceptedCondition, ...passed] };
}

/** Returns why a device of each status cannot poll, and the remedy. */
function waitingFor(id: string) {
  const accept = `accept the device: npx fleetbed accept ${id}`;
  return {
    unknown: ['no device with this ID is known', 'let the device send an authentication request'],
    pending: ['the device is pending until a user accepts it', accept],
    preauthorized: [
      'the device is preauthorized but has not authenticated yet',
      'let the device send an authentication request; no user has to accept it',
    ],
    rejected: ['a user has rejected the device', accept],
    noauth: [
      'the device has no authentication set that a user could accept',
      'let the device send an authentication request, then accept it',
    ],
  } as const;
}

/**
 * Decides by the conditions of the API. Without the poll's data, the conditions that need it cannot
 * be decided.
 */
function resultOfPoll(
  device: DeviceAtTime,
  lastPoll?: LastPoll,
  request?: NextRequest,
): PollResult {
  const { tenant, id } = device;
  // Stored only if nothing has changed for the device since its last poll.
  const cachedReason = tenant.store.deviceDeployments.cachedNoUpdate(id);
  if (cachedReason)
    return resultOf(
      request ? withInstalledArtifact(cachedReason, request.artifactName) : cachedReason,
      tenant,
    );
  const open = openDeploymentsOf(device);
  if (!request) {
    const choice = chooseOrExplain(open);
    if ('noUpdate' in choice) return resultOf(choice.noUpdate, tenant);
    const label = labelOf(choice.deviceDeployment.deployment);
    if (!lastPoll) {
      return noUpdateResult(
        'polling',
        `the device has not polled since the server started; ${label} is waiting for it`,
        'let the device poll',
      );
    }
    const unknownPollText = `its last poll was not recorded, because it has more than ${POLL_DATA_MAX_CHARACTERS} bytes`;
    return noUpdateResult(
      'polling',
      `${label} is waiting for the device; ${unknownPollText}`,
      'let the device poll with less data, so that the server can explain it',
    );
  }
  const candidatesOf = (deviceDeployment: DeviceDeploymentWithFacts) =>
    candidatesFor(deviceDeployment, tenant);
  const decided = decideInstruction({ ...open, request, candidatesOf });
  if ('noUpdate' in decided) return resultOf(decided.noUpdate, tenant, request);
  const { deployment } = decided.deviceDeployment;
  const passed = passedConditions(undefined, deployment, request);
  const deploymentId = deployment.id;
  if (decided.decision === 'conflict') {
    const reason = `the device reports different data than when it was offered ${labelOf(deployment)}, so its next poll is answered with 409 and the deployment fails for it`;
    const remedy =
      'let the device poll with unchanged data until it has reported a final status; after a failure, deploy again';
    return { ...noUpdateResult('request', reason, remedy), passed, deploymentId };
  }
  return { outcome: 'update', reason: offerText(decided.deviceDeployment), passed, deploymentId };
}

function openDeploymentsOf({
  tenant: { store },
  id,
  nowMs,
}: DeviceAtTime): OpenDeviceDeployments<DeviceDeploymentWithFacts> {
  return {
    ...store.deviceDeployments.listOpen(id),
    nowMs,
    newest: () => store.deviceDeployments.newest(id, 1).deviceDeployments[0],
  };
}

function offerText(deviceDeployment: DeviceDeploymentWithFacts): string {
  const label = labelOf(deviceDeployment.deployment);
  if (mayTryAgain(deviceDeployment)) {
    return `the next poll gets ${label} again, because it failed on the device and has retries left`;
  }
  if (deviceDeployment.offeredMs === undefined) return `the next poll gets ${label}`;
  return `the next poll gets ${label} again, because the device has not finished it: ${deviceDeployment.status}`;
}

function resultOf(noUpdate: NoUpdate, { store }: Tenant, request?: NextRequest): PollResult {
  const { condition, deploymentId, reason } = noUpdate;
  const deployment = deploymentId === undefined ? undefined : store.deployments.find(deploymentId);
  const passed = passedConditions(condition, deployment, request);
  const remedy = remedyOf(noUpdate);
  return { outcome: outcomeOf(noUpdate), condition, reason, remedy, passed, deploymentId };
}

function noUpdateResult(condition: string, reason: string, remedy: string): PollResult {
  return { outcome: 'no update', condition, reason, remedy, passed: [] };
}

function candidatesFor({ deployment }: DeviceDeploymentWithFacts, { store }: Tenant) {
  if (deployment.type === 'configuration') return [];
  return store.artifacts.findByName(deployment.artifactName).map(candidate);
}

/** Returns the current state of the device's newest deployments except one. */
function otherDeployments(
  { tenant, id, nowMs }: DeviceAtTime,
  except: string | undefined,
): string[] {
  const { deviceDeployments, lastFinishedSeq } = tenant.store.deviceDeployments.newest(
    id,
    DEPLOYMENTS_MAX,
  );
  return deviceDeployments
    .filter(({ deployment }) => deployment.id !== except)
    .map((deviceDeployment) => {
      const condition = withholdingCondition(deviceDeployment, { nowMs, lastFinishedSeq });
      if (condition) return maskText(withheldText(condition, deviceDeployment, nowMs));
      const status = deviceDeployment.offeredMs === undefined ? 'open' : deviceDeployment.status;
      return maskText(`${labelOf(deviceDeployment.deployment)}: ${status}`);
    });
}

/** Returns the data that the device sent in a poll; undefined if it was not recorded. */
function requestOf(operation: string, content: string | undefined): NextRequest | undefined {
  if (content === undefined) return undefined;
  if (operation === operations['get-next-deployment'].id) {
    const query = new URLSearchParams(content.replace(/^[^?]*/, ''));
    const names = Object.keys(operations['get-next-deployment'].query);
    return withProvides([...query].filter(([name]) => names.includes(name)));
  }
  const members = jsonObject(Buffer.from(content, 'latin1'));
  const isV2 = operation === operations['post-next-deployment-v2'].id;
  const provides = isV2 ? members.device_provides : members;
  if (typeof provides !== 'object' || provides === null) return undefined;
  const pairs = Object.entries(provides).map(([name, value]) => [name, String(value)] as const);
  return withProvides(pairs, isV2 && members.update_control_map === true);
}

function withProvides(
  pairs: readonly (readonly [string, string])[],
  wantsControlMap = false,
): NextRequest {
  const provides = Object.fromEntries(pairs);
  const { device_type: deviceType = '', artifact_name: artifactName = '' } = provides;
  return { deviceType, artifactName, provides, wantsControlMap };
}

function refusedText(
  { status }: LastPoll,
  { error, requestId }: NonNullable<LastPoll['refused']>,
  tenant: Tenant,
): string {
  const more = journalOf(tenant).find(requestId)
    ? `; for details: npx fleetbed explain ${requestId}`
    : '';
  return `the last poll was answered with ${status}: ${error}${more}`;
}

function polledText(atMs: number, request: NextRequest | undefined): string {
  const dataText = request ? ` with ${maskText(pairsText(request))}` : '';
  return `at ${timeText(atMs)}${dataText}`;
}
