/** Reads and writes the data of a poll as each polling operation sends it. */
import { isObject } from '../../fixtures/base/json.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { isPollOperation, operationsById } from '../../fixtures/contract/operation-ids.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { parsePollData, pollDataText } from '../rules/next-deployment.ts';
import { pairsText } from '../rules/no-update-sentences.ts';
import type { DeviceDeployments } from '../store/device-deployments.ts';
import type { Poll as KnownPoll } from '../store/last-poll.ts';
import {
  hasUnknownBody,
  jsonOf,
  type ReceivedRequest,
  textOf,
  tokenOwnerIn,
} from './received-request.ts';
import type { KnownStore } from './steps.ts';

type ReceivedProvides = Readonly<Record<string, unknown>>;

const inQuery: Operation = operations['get-next-deployment'];
const inBody: Operation = operations['post-next-deployment'];
/** Names of the query parameters that every poll must have. */
const required = Object.keys(inQuery.query ?? {});

/** A request for an operation, usually a poll. */
interface ExplainedPoll {
  readonly operation: Operation;
  readonly request: ReceivedRequest;
  /** The data of the poll that got the current update, if this poll would end the update. */
  readonly endsUpdateOf?: string;
}

/**
 * Returns a harmless poll. A poll with other data than the one that got a deployment ends that
 * deployment for the device. Depending on what is known, the result is the sent data in the right
 * form, an exact copy of the last answered poll if it includes the sent data, or a poll without
 * data.
 */
export function safePoll(
  { operation, request }: ExplainedPoll,
  { devices, deviceDeployments }: KnownStore,
  deviceId: string,
): ExplainedPoll {
  const last = devices.cache.find(deviceId)?.lastPoll?.answered;
  const lastOperation = last && operationsById.get(last.operation);
  const again = lastOperation && { operation: lastOperation, request: withDataOf(request, last) };
  const lastProvides = again && providesIn(again.request);
  const isUnknown = hasUnknownBody(request);
  const sentData = isUnknown ? {} : providesIn(request);
  const isLastData =
    lastProvides &&
    Object.entries(sentData).every(([name, value]) => String(lastProvides[name]) === String(value));
  const isWhole = required.every((name) => name in sentData);
  if (again && isLastData && !isWhole && !isUnknown) return again;
  const warning = conflictWarning(
    isUnknown ? undefined : request,
    deviceDeployments.listOpen(deviceId),
  );
  if (isWhole && hasOtherVersionForm(request, operation)) {
    return { operation, request: convertRequest(request, operation, sentData), ...warning };
  }
  const isNothing =
    Object.keys(sentData).length === 0 && bodyOf(request) === undefined && !isUnknown;
  const pollRequest = isNothing && operation === inQuery ? withoutBody(request) : request;
  return { operation, request: pollRequest, ...warning };
}

/**
 * Returns the data of the update in progress that the poll would end because its own data differs.
 */
function conflictWarning(
  request: ReceivedRequest | undefined,
  { deviceDeployments }: Pick<DeviceDeployments, 'deviceDeployments'>,
): Pick<ExplainedPoll, 'endsUpdateOf'> {
  const inProgress = deviceDeployments.find(
    ({ pollData, offeredMs }) => offeredMs !== undefined && pollData,
  );
  if (!inProgress?.pollData) return {};
  const isSame = request && textOfPoll(request) === inProgress.pollData;
  return isSame ? {} : { endsUpdateOf: pairsText(parsePollData(inProgress.pollData)) };
}

function convertRequest(
  request: ReceivedRequest,
  operation: Operation,
  provides: ReceivedProvides,
): ReceivedRequest {
  const body = operation === inBody ? provides : { device_provides: provides };
  return { ...request, search: '', body: Buffer.from(JSON.stringify(body)) };
}

/**
 * Returns the request with the data of a recorded poll. A body that was too long is not recorded.
 */
function withDataOf(request: ReceivedRequest, { operation, content }: KnownPoll): ReceivedRequest {
  const emptyRequest = withoutBody(request);
  if (operation === inQuery.id) return { ...emptyRequest, search: content?.split('?')[1] ?? '' };
  const body = content === undefined ? undefined : Buffer.from(content, 'latin1');
  return { ...emptyRequest, search: '', body, bodyBytes: body?.length ?? 1 };
}

/** Returns true if the body is that of the other version of the operation. */
export function hasOtherVersionForm(request: ReceivedRequest, operation: Operation): boolean {
  const body = bodyOf(request);
  if (!isPollOperation(operation) || operation === inQuery || !body) return false;
  const isVersion2Form = isObject(body.device_provides);
  if (operation === inBody) return isVersion2Form;
  return !isVersion2Form && required.some((name) => name in body);
}

function providesIn(request: Pick<ReceivedRequest, 'search' | 'body'>): ReceivedProvides {
  const body = bodyOf(request);
  if (body) return isObject(body.device_provides) ? body.device_provides : body;
  const search = new URLSearchParams(request.search);
  return Object.fromEntries([...search].filter(([name]) => required.includes(name)));
}

/**
 * Returns the poll's data as the server stores it with an offer. Values of other
 * types become strings.
 */
function textOfPoll(request: ReceivedRequest): string {
  const pairs = Object.entries(providesIn(request)).map(([name, value]) => [name, String(value)]);
  const wantsControlMap = String(bodyOf(request)?.update_control_map) === 'true';
  return pollDataText({ provides: Object.fromEntries(pairs), wantsControlMap });
}

function bodyOf(request: Pick<ReceivedRequest, 'body'>): ReceivedProvides | undefined {
  const value = jsonOf(textOf(request))?.value;
  return isObject(value) ? value : undefined;
}

/**
 * Returns the request without its body. A body that was not recorded is not needed, since the
 * reader is asked for its data.
 */
function withoutBody(request: ReceivedRequest): ReceivedRequest {
  const isLength = (name: string): boolean => /^(content-length|transfer-encoding)$/.test(name);
  const headers = new Map([...request.headers].filter(([name]) => !isLength(name)));
  return { ...request, headers, body: undefined, bodyBytes: 0 };
}

/** Returns the ID of the device whose token the request has; empty without a device token. */
export function ownerOf(request: ReceivedRequest): string {
  const owner = tokenOwnerIn(request);
  return owner?.isDevice ? owner.subject : '';
}
