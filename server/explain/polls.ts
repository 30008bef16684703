/** The data with which a device polls, in the form of each polling operation. */
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operationsById } from '../../fixtures/contract/operation-ids.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { isObject } from '../../fixtures/json.ts';
import { requestIn, requestText } from '../rules/next-deployment.ts';
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

type Provides = Readonly<Record<string, unknown>>;

const inQuery: Operation = operations['get-next-deployment'];
const inBody: Operation = operations['post-next-deployment'];
/** Names of the query parameters of a poll, which every device sends. */
const required = Object.keys(inQuery.query ?? {});

/** Whether devices ask by the operation for what to install. */
export function isPollOperation({ deploymentRole }: Operation): boolean {
  return deploymentRole === 'hands-out';
}

/** A request for an operation. */
interface Poll {
  readonly operation: Operation;
  readonly asked: ReceivedRequest;
  /** What the device said when it got the update that this poll ends, where it says other things. */
  readonly endsUpdateOf?: string;
}

/**
 * A poll that does no harm: one that says other things than that for which a deployment was handed
 * out ends it for the device. So it is what was sent, put where it belongs; or the last poll that
 * was answered, exactly, where that says what was sent and more; or one without anything.
 */
export function safePoll(
  { operation, asked }: Poll,
  { devices, deviceDeployments }: KnownStore,
  deviceId: string,
): Poll {
  const last = devices.facts(deviceId)?.lastPoll?.answered;
  const lastOperation = last && operationsById.get(last.operation);
  const again = lastOperation && { operation: lastOperation, asked: withSaid(asked, last) };
  const said = again && providesIn(again.asked);
  const isUnknown = hasUnknownBody(asked);
  const sent = isUnknown ? {} : providesIn(asked);
  const isSaid =
    said && Object.entries(sent).every(([name, value]) => String(said[name]) === String(value));
  const isWhole = required.every((name) => name in sent);
  if (again && isSaid && !isWhole && !isUnknown) return again;
  const warning = endedBy(isUnknown ? undefined : asked, deviceDeployments.open(deviceId));
  if (isWhole && isInOtherForm(asked, operation)) {
    return { operation, asked: inForm(asked, operation, sent), ...warning };
  }
  const isNothing = Object.keys(sent).length === 0 && bodyOf(asked) === undefined && !isUnknown;
  const bare = isNothing && operation === inQuery ? withoutBody(asked) : asked;
  return { operation, asked: bare, ...warning };
}

/** The update in progress that a poll ends, because its data differs from the poll that got it. */
function endedBy(
  asked: ReceivedRequest | undefined,
  { deviceDeployments }: Pick<DeviceDeployments, 'deviceDeployments'>,
): Pick<Poll, 'endsUpdateOf'> {
  const underWay = deviceDeployments.find(
    ({ request, offeredMs }) => offeredMs !== undefined && request,
  );
  if (!underWay?.request) return {};
  const isSame = asked && textOfPoll(asked) === underWay.request;
  return isSame ? {} : { endsUpdateOf: pairsText(requestIn(underWay.request)) };
}

function inForm(asked: ReceivedRequest, operation: Operation, provides: Provides): ReceivedRequest {
  const body = operation === inBody ? provides : { device_provides: provides };
  return { ...asked, search: '', body: Buffer.from(JSON.stringify(body)) };
}

/** The request of a poll, of which the body may be too long to be kept. */
function withSaid(asked: ReceivedRequest, { operation, said }: KnownPoll): ReceivedRequest {
  const bare = withoutBody(asked);
  if (operation === inQuery.id) return { ...bare, search: said?.split('?')[1] ?? '' };
  const body = said === undefined ? undefined : Buffer.from(said, 'latin1');
  return { ...bare, search: '', body, bodyBytes: body?.length ?? 1 };
}

/** Whether what was sent is the body of the other version. */
export function isInOtherForm(asked: ReceivedRequest, operation: Operation): boolean {
  const body = bodyOf(asked);
  if (!isPollOperation(operation) || operation === inQuery || !body) return false;
  const isOfSecond = isObject(body.device_provides);
  if (operation === inBody) return isOfSecond;
  return !isOfSecond && required.some((name) => name in body);
}

function providesIn(asked: Pick<ReceivedRequest, 'search' | 'body'>): Provides {
  const body = bodyOf(asked);
  if (body) return isObject(body.device_provides) ? body.device_provides : body;
  const search = new URLSearchParams(asked.search);
  return Object.fromEntries([...search].filter(([name]) => required.includes(name)));
}

/** What it says, as the server keeps it with an offer; values of another kind are corrected to texts. */
function textOfPoll(asked: ReceivedRequest): string {
  const pairs = Object.entries(providesIn(asked)).map(([name, value]) => [name, String(value)]);
  const takesControlMap = String(bodyOf(asked)?.update_control_map) === 'true';
  return requestText({ provides: Object.fromEntries(pairs), takesControlMap });
}

function bodyOf(asked: Pick<ReceivedRequest, 'body'>): Provides | undefined {
  const value = jsonOf(textOf(asked))?.value;
  return isObject(value) ? value : undefined;
}

/** The body of a poll that was not read is not needed: it says no more than what is asked for. */
function withoutBody(asked: ReceivedRequest): ReceivedRequest {
  const isLength = (name: string): boolean => /^(content-length|transfer-encoding)$/.test(name);
  const headers = new Map([...asked.headers].filter(([name]) => !isLength(name)));
  return { ...asked, headers, body: undefined, bodyBytes: 0 };
}

/** The id of the device that sent it; empty where none says so. */
export function ownerOf(asked: ReceivedRequest): string {
  const owner = tokenOwnerIn(asked);
  return owner?.isDevice ? owner.subject : '';
}
