/** Corrects a refused request: finds the request that would succeed, and the steps before it. */
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { isPollOperation } from '../../fixtures/contract/operation-ids.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { maskText } from '../http/masking.ts';
import { type MountedServer, UnknownPath } from '../pipeline/mounted.ts';
import { type CorrectedRequest, correctRequest } from './corrected-request.ts';
import {
  isWider,
  listOperationFor,
  mayBeMeant,
  methodsLike,
  nearestOperation,
  operationAt,
  otherVersionOf,
  parametersIn,
} from './nearest.ts';
import { ownerOf, safePoll } from './polls.ts';
import type { ReceivedRequest } from './received-request.ts';
import { isDeviceAsUser, remedyOf } from './remedy.ts';
import type { RefusedRequest } from './request-problem.ts';
import { operationsOf, similarOperationOf } from './similar-operation.ts';
import { type KnownStore, type PreparationStep, stepsOf } from './steps.ts';
import { readable } from './text.ts';

/** A request that succeeds, and the steps that have to come before it. */
export interface Correction {
  readonly request: CorrectedRequest;
  readonly steps: readonly PreparationStep[];
  /** Set if the response contains a link that has to be fetched. */
  readonly followsLink?: true;
}

/** The remedy of a refusal, for the caller. */
export interface Remedy {
  /** A sentence that says what to do before the request. */
  readonly before?: string;
  /** Absent if no request can achieve what the caller wanted. */
  readonly correction?: Correction;
}

/** The data from which a correction is made. */
export interface CorrectionInput extends RefusedRequest {
  /** The place of the problem, such as `body.status`. */
  readonly location: string;
  /** The expected value at that place. */
  readonly expected?: string | undefined;
  readonly store: KnownStore;
  readonly mounts: MountedServer;
  /** Name of the tenant if it is not the first one. */
  readonly otherTenant?: string;
}

export function findRemedy(refused: CorrectionInput): Remedy {
  const intendedOperation = meantBy(refused);
  if (!intendedOperation) {
    const before = remedyOf(refused, undefined, []);
    return before === undefined ? {} : { before };
  }
  // A user's write may do more than the device wanted, such as ending a deployment for all devices.
  if (isDeviceAsUser(refused) && intendedOperation.method !== 'GET') {
    return { before: remedyOf(refused, undefined, []) ?? '' };
  }
  // Sending the request again would overwrite changes that others have made since.
  if (refused.refusal.status === 412 && intendedOperation.method !== 'GET') {
    return {
      before: 'read the resource again, apply your change to it, and send it with the new ETag',
    };
  }
  const { warning, ...request } = requestFor(
    instead(intendedOperation, refused) ?? intendedOperation,
    intendedOperation,
    refused,
  );
  const steps = stepsOf(refused, request.operation);
  const { id } = request.operation;
  const texts = [
    remedyOf(refused, request.operation, steps),
    warning,
    id === operations.connect.id ? takesOver : undefined,
    replacementWarning(request, refused),
    isForced(request) ? 'force: true ends the access of the accepted key of the device' : undefined,
  ];
  const before = texts.filter((one) => one !== undefined).join('; ');
  return {
    ...(before !== '' && { before }),
    correction: {
      request,
      steps,
      ...(intendedOperation.authorization === 'link' && { followsLink: true }),
    },
  };
}

/** Returns a warning if a corrected write removes more than was sent. */
function replacementWarning(
  { operation, isAsSent }: CorrectedRequest,
  { refusal, mounts }: CorrectionInput,
) {
  if (refusal.status !== 400 || isAsSent || operation.method !== 'PUT') return undefined;
  const patch = operationAt(operation.path, ['PATCH'], operationsOf(mounts));
  if (patch) return 'PUT replaces everything; PATCH changes only what is sent';
  const replacesConfiguration = operation.id === managementOperations['set-configuration'].id;
  return replacesConfiguration
    ? 'PUT replaces all pairs, including those that are not sent'
    : undefined;
}

/** Returns true if the request also preauthorizes a key for a device that has an accepted key. */
function isForced({ operation, body }: CorrectedRequest): boolean {
  const preauthorizes = operation.id === managementOperations['preauthorize-device'].id;
  return preauthorizes && /"force":true/.test(readable(body ?? []));
}

const takesOver = 'the command opens a new WebSocket, which closes the current one of the device';

interface CorrectedPoll extends CorrectedRequest {
  /** Set if the poll differs from the poll for which the device got its current update. */
  readonly warning?: string;
}

/** Returns a warning if a poll with other data would end the update in progress. */
function warningOf(endsUpdateOf: string | undefined, deviceId: string): string | undefined {
  if (deviceId === '') {
    return 'a poll with different data ends an update in progress for the device';
  }
  return endsUpdateOf === undefined
    ? undefined
    : `a poll with different data ends the update in progress, which was offered for ${maskText(endsUpdateOf)}`;
}

function requestFor(
  operation: Operation,
  meant: Operation,
  refused: CorrectionInput,
): CorrectedPoll {
  const { request, refusal, location, expected } = refused;
  const { status } = refusal;
  const parameters = parametersIn(meant, request.path);
  // The sent data applies to another operation only if that operation replaces the first one.
  const isOther = operation !== refused.operation && operation !== meant && status !== 410;
  const { device_type: type } = parameters;
  const search = type === undefined ? '' : `device_type=${type}`;
  const bareRequest = { ...request, search, headers: new Map(), body: undefined, bodyBytes: 0 };
  const correctedRequest = isOther ? bareRequest : request;
  if (!isPollOperation(operation)) {
    return correctRequest(operation, {
      request: correctedRequest,
      parameters,
      status,
      location,
      expected,
    });
  }
  // A request with a signed link has no token that identifies the device.
  const linked = isOther && status !== 403 ? parameters.device_id : undefined;
  const deviceId = linked ?? ownerOf(request);
  const poll = safePoll({ operation, request: correctedRequest }, refused.store, deviceId);
  const warning = warningOf(poll.endsUpdateOf, deviceId);
  const warned = warning === undefined ? {} : { warning };
  const faulty = { request: poll.request, parameters, status };
  if (poll.request === correctedRequest) {
    return { ...correctRequest(poll.operation, { ...faulty, location, expected }), ...warned };
  }
  // The poll was replaced by another one, which does not contain the problem.
  const { isAsSent: _isAsSent, ...correctedPoll } = correctRequest(poll.operation, {
    ...faulty,
    location: '',
  });
  return { ...correctedPoll, ...warned };
}

/** Returns the operation that the request named or most likely meant, if any. */
function meantBy({ request, refusal, operation, mounts }: CorrectionInput): Operation | undefined {
  if (operation) return operation;
  const { method, path } = request;
  const evidence = refusal.detail?.evidence;
  const knownOperations = operationsOf(mounts);
  const intendedOperation =
    evidence instanceof UnknownPath
      ? similarOperationOf(request, evidence).operation
      : (operationAt(path, methodsLike(method), knownOperations) ??
        otherVersionOf(method, path, knownOperations) ??
        operationAt(path, ['GET'], knownOperations) ??
        similarTo(request, knownOperations));
  if (!intendedOperation || !mayBeMeant(method, intendedOperation)) return undefined;
  // With a part of the path missing, the request may change more than the caller wanted.
  return intendedOperation.method !== 'GET' && isWider(intendedOperation, path)
    ? undefined
    : intendedOperation;
}

function similarTo(
  { method, path }: ReceivedRequest,
  knownOperations: readonly Operation[],
): Operation | undefined {
  const nearest = nearestOperation(method, path, knownOperations);
  return nearest.isSimilar ? nearest.operation : undefined;
}

/** Returns the operation to call instead of the intended one. */
function instead(meant: Operation, { refusal, location, operation, mounts }: CorrectionInput) {
  const { status } = refusal;
  const knownOperations = operationsOf(mounts);
  if (status === 410 && meant.deprecated) return successorOf(meant.deprecated, knownOperations);
  const link: Operation = operations['get-artifact-link'];
  if (meant.id === storageOperations['download-artifact'].id && knownOperations.includes(link))
    return link;
  if (meant.authorization === 'link') return operations['get-next-deployment'];
  const isMissing = operation !== undefined && location.startsWith('path.') && status !== 403;
  // A conflict with a remedy can be resolved, so the same request succeeds later. For any other
  // conflict a lookup is suggested.
  const isState =
    status === 409 && !location.startsWith('body.') && refusal.detail?.remedy === undefined;
  return (isMissing || isState) && status !== 400
    ? listOperationFor(meant, knownOperations)
    : undefined;
}

function successorOf(
  { successor }: NonNullable<Operation['deprecated']>,
  knownOperations: readonly Operation[],
): Operation | undefined {
  const path = `${apiPrefixes.management}${successor.version}${successor.path}`;
  const isSuccessor = (one: Operation): boolean =>
    one.method === successor.method && withoutNames(one.path) === withoutNames(path);
  return knownOperations.find(isSuccessor);
}

function withoutNames(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}
