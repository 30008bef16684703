/** Says what to do first about a refusal. */
import { isObject } from '../../fixtures/base/json.ts';
import { printable } from '../../fixtures/base/printable.ts';
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { isPollOperation } from '../../fixtures/contract/operation-ids.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { shellWord } from '../../fixtures/formats/shell-word.ts';
import { OTHER_KEYS_MAX } from '../crypto/refused-signature.ts';
import { type MountedServer, UnknownPath } from '../pipeline/mounted.ts';
import type { StoredAuthSet } from '../store/devices.ts';
import { nearestOperation, operationAt } from './nearest.ts';
import { hasOtherVersionForm } from './polls.ts';
import {
  hasUnknownBody,
  jsonOf,
  type ReceivedRequest,
  textOf,
  tokenOwnerIn,
} from './received-request.ts';
import type { RefusedRequest } from './request-problem.ts';
import { operationsOf, similarOperationOf } from './similar-operation.ts';
import {
  authSetIn,
  concernsToken,
  hasOtherKey,
  isUnaccepted,
  type KnownStore,
  type PreparationStep,
} from './steps.ts';

interface RemedyInput extends RefusedRequest {
  readonly location: string;
  readonly store: KnownStore;
  readonly mounts: MountedServer;
  readonly otherTenant?: string;
}

const texts: Readonly<Record<number, string>> = {
  409: 'check the current state, and resolve the conflict',
  413: 'send a smaller body',
  500: 'this is an error in the server: check its log',
};

/**
 * Matches text that begins with an instruction. Error messages put it after a semicolon; other text
 * after a semicolon continues the reason.
 */
const instruction =
  /^(?:abort|authenticate|choose|close|confirm|create|decommission|leave|remove|request|revoke|send|sign|simplify|start|stop|try|upload|use|wait)\b/;

/**
 * Returns what to do before calling `next` or repeating the request; undefined if the corrected
 * request is sufficient.
 */
export function remedyOf(
  refused: RemedyInput,
  next: Operation | undefined,
  steps: readonly PreparationStep[],
): string | undefined {
  const { refusal, operation, request } = refused;
  const { evidence } = refusal.detail ?? {};
  if (evidence instanceof UnknownPath) return similarOperationOf(request, evidence).remedy;
  if (isUnaccepted(refused)) return acceptanceText(refused, steps);
  if (operation && hasOtherVersionForm(request, operation)) {
    const isFirst = operation.id === operations['post-next-deployment'].id;
    return `this is the body of the other version: version ${isFirst ? 1 : 2} of this operation has the provides of the device ${isFirst ? 'at the top level' : 'in device_provides'}`;
  }
  if (operation?.authorization === 'link' && /%26|amp;|(?:\\|%5C)u0026/i.test(request.search)) {
    return 'read the link with a JSON parser: it was sent with an escaped "&"';
  }
  if (operation?.authorization === 'link' && (/%25/.test(request.search) || holdsQuery(request))) {
    return 'send the link unchanged: it was URL-encoded a second time';
  }
  if (operation?.authorization === 'link' && /^[^&]+$/.test(request.search)) {
    return 'put the link in quotes: the shell cuts it at the first "&"';
  }
  const wait = steps.find(({ kind }) => kind === 'wait');
  if (wait?.kind === 'wait' && refusal.status === 429) {
    return `wait ${wait.seconds} s, or set the server's clock ahead with "npx fleetbed clock +${wait.seconds}s"`;
  }
  const remedy =
    otherOperationRemedy(refused) ??
    refusal.detail?.remedy ??
    remedyOf401(refused, steps) ??
    remedyIn(refusal.error);
  const isRole = refusal.detail?.requirement === 'errors.role-forbidden-is-403';
  const first =
    remedy ?? (isRole ? 'use another user, or a role that permits it' : texts[refusal.status]);
  if (!next || next === operation || isLinkStatus(refusal.status) || !operation) return first;
  const look = lookUpText(next);
  return first === undefined ? look : `${first}; ${look}`;
}

/** Returns a hint at another operation that a malformed request may have meant. */
function otherOperationRemedy({
  request,
  refusal,
  operation,
  location,
}: RemedyInput): string | undefined {
  if (refusal.status !== 400) return undefined;
  const concernsQuery = location.startsWith('query.') && operation?.body === undefined;
  if (concernsQuery && (request.bodyBytes > 0 || hasUnknownBody(request))) {
    return `put it into the query: the body of a ${request.method} is not read`;
  }
  const users = managementOperations;
  switch (operation?.id) {
    case users['create-deployment'].id:
      return namesGroup(request)
        ? `the body cannot name a group: use ${nameOf(users['create-group-deployment'])} to deploy to a group`
        : undefined;
    case users['abort-deployment'].id:
      return `this aborts the deployment for all its devices: a device reports its own status with ${nameOf(operations['put-deployment-status'])}`;
    case operations['put-configuration'].id:
      return refusal.detail?.actual === 'null'
        ? 'to remove a key, send an empty string as its value'
        : undefined;
    case users['upload-artifact'].id:
      return `the command sends only the file, which must be an artifact: ${nameOf(users['generate-artifact'])} generates one from any file`;
    default:
      return undefined;
  }
}

/** Returns true for a path that holds its query, since the `?` before it was escaped. */
function holdsQuery({ path, search }: ReceivedRequest): boolean {
  return search === '' && /%3F(?:(?!%3F)[^/])*(?:=|%3D)/i.test(path);
}

function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

function namesGroup(request: ReceivedRequest): boolean {
  const body = jsonOf(textOf(request))?.value;
  return isObject(body) && 'group' in body;
}

/**
 * Returns true if a link has expired, or if the link is valid but the request does not fit the
 * file.
 */
function isLinkStatus(status: number): boolean {
  return status === 410 || status === 412 || status === 416;
}

/** Returns the instruction after the last semicolon of the message, if there is one. */
function remedyIn(error: string): string | undefined {
  const end = error.lastIndexOf('; ');
  const last = error.slice(end + 2);
  return end >= 0 && instruction.test(last) ? last : undefined;
}

function lookUpText(operation: Operation): string {
  const { id, method, path } = operation;
  const verb = isPollOperation(operation)
    ? 'returns the current deployment of the device, with a new link'
    : id === operations['get-artifact-link'].id
      ? 'returns a new link'
      : 'shows what exists';
  return `${method} ${path} ${verb}`;
}

function remedyOf401(refused: RemedyInput, steps: readonly PreparationStep[]): string | undefined {
  const { refusal, operation, location, request, mounts } = refused;
  if (refusal.status !== 401) return undefined;
  if (operation?.id === operations['post-auth-request'].id) {
    const isSignature = location.startsWith('header.');
    return isSignature ? 'sign the bytes of the body exactly as they are sent' : undefined;
  }
  if (!concernsToken(location)) return undefined;
  if (operation?.authorization === 'basic') return 'use the email address and password of a user';
  if (isDeviceAsUser(refused)) {
    return `use the token of a user; devices have their own operations below ${apiPrefixes.device}`;
  }
  const token = tokenText(steps);
  const knownOperations = operationsOf(mounts);
  if (operation ?? operationAt(request.path, [request.method], knownOperations)) return token;
  const { operation: nearest, isSimilar } = nearestOperation(
    request.method,
    request.path,
    knownOperations,
  );
  if (isSimilar && nearest.authorization === 'signature') {
    return 'correct the path: an authentication request needs no token, but the dialect token-before-routing requires one on every other path';
  }
  const isPath = operationAt(
    request.path,
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    knownOperations,
  );
  const otherPart = isPath ? 'method' : 'path';
  return `${token}, which the dialect token-before-routing checks first; then correct the ${otherPart}`;
}

/** Returns true if a device called an operation for users. */
export function isDeviceAsUser({ request, refusal, operation }: RefusedRequest): boolean {
  const isForUsers = operation?.authorization === 'user';
  return refusal.status === 401 && isForUsers && tokenOwnerIn(request)?.isDevice === true;
}

function tokenText(steps: readonly PreparationStep[]): string {
  for (const step of steps) {
    if (step.kind === 'accept') {
      return `the device is not accepted: run "npx fleetbed accept ${step.deviceId}", then authenticate for a new token`;
    }
    if (step.kind === 'device-token' && step.instead === 'another key') {
      return 'the token belongs to a key that is no longer accepted: authenticate with the accepted key of the device';
    }
    if (step.kind === 'device-token' && step.instead === 'nobody') {
      return `a user has rejected the device; to allow it again, run "npx fleetbed accept ${step.deviceId}", then authenticate for a new token`;
    }
    if (step.kind === 'preauthorize') {
      return 'the device of this token was removed: authenticate again, accept the device, and use its new token';
    }
  }
  return 'get a valid token';
}

/**
 * Returns the remedy for a device that was refused for its status although its request is valid.
 */
function acceptanceText(refused: RemedyInput, steps: readonly PreparationStep[]): string {
  const { request, store, otherTenant, refusal } = refused;
  const fine = 'nothing is wrong with the request';
  const authSet = authSetIn(request, store);
  const step = steps.find(({ kind }) => kind === 'accept');
  if (step?.kind === 'accept') {
    const user =
      otherTenant === undefined ? '' : ` --email <of a user of ${shellWord(otherTenant)}>`;
    const shared = authSet ? sharedKeyText(authSet, store) : '';
    return `${fine}: run "npx fleetbed accept ${step.deviceId}${user}", and send it again${shared}`;
  }
  if (authSet && hasOtherKey(authSet, store)) {
    return `authenticate with the accepted key of the device; to replace that key with this one, run "npx fleetbed accept ${authSet.deviceId}", which ends the access of the other key`;
  }
  if (authSet?.status === 'rejected') {
    return `${fine}, but a user has rejected the device; to allow it again, run "npx fleetbed accept ${authSet.deviceId}"`;
  }
  const status = authSet?.status;
  if (status === 'accepted') return `${fine}: its key has been accepted since, so send it again`;
  if (status === 'preauthorized') {
    return `${fine}: decommission or reject another device, or raise the limit, and send it again`;
  }
  if (refusal.error.includes('too many keys')) {
    return 'decommission the device as a user, then authenticate again with the key that it will keep';
  }
  return `${fine}, but the device was removed: send it again, and then run "npx fleetbed accept --all"`;
}

/** Says that another identity has the same key, as the continuation of a sentence. */
function sharedKeyText(set: StoredAuthSet, { devices }: KnownStore): string {
  const otherKey = devices
    .newestKeys('', OTHER_KEYS_MAX)
    .find(
      ({ deviceId, publicKeyPem }) =>
        publicKeyPem === set.publicKeyPem && deviceId !== set.deviceId,
    );
  const identity = otherKey && devices.find(otherKey.deviceId)?.identity;
  if (identity === undefined) return '';
  return `; the same key belongs to ${printable(identity, IDENTITY_MAX_CHARACTERS)}: send the same id_data at each start, and give each device a key of its own`;
}

const IDENTITY_MAX_CHARACTERS = 100;
