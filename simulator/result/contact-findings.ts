/** Findings about the contact of the devices with the server: responses, acceptance and polls. */
import * as v from 'valibot';
import { countText } from '../../fixtures/base/count-text.ts';
import {
  operations as contractOperations,
  pollOperations,
} from '../../fixtures/contract/operations.ts';
import { thresholdOf, thresholdsShape } from '../plan/thresholds-parser.ts';
import type { RunFinding } from './finding.ts';
import type { FleetResult } from './result.ts';
import { noUser } from './result-devices.ts';
import type { OperationCount } from './result-figures.ts';

/** Returns the findings about responses, acceptance and polls. */
export function contactFindings(result: FleetResult): readonly RunFinding[] {
  const reach = { condition: 'devices reach the server' };
  const accept = { condition: 'the server accepts devices' };
  if (!hasAnyResponse(result)) {
    const sentence = 'No device got a response: see the errors by cause.';
    return [
      { ...reach, state: 'inconclusive', sentence, brief: 'no device got a response' },
      { ...accept, state: 'not judged', sentence },
    ];
  }
  const reachedFinding: RunFinding = {
    ...reach,
    state: 'passed',
    sentence: 'Devices got responses.',
  };
  if (isAnyAccepted(result)) {
    const sentence = 'Devices were accepted.';
    return [reachedFinding, { ...accept, state: 'passed', sentence }];
  }
  const sentence = remedies(result).join(' ');
  if (isAboutAuthRequests(result))
    return [reachedFinding, { ...accept, state: 'not judged', sentence }];
  const acceptedCount = acceptedByUser(result);
  const brief =
    acceptedCount === 0
      ? 'no device was accepted'
      : `${countText(acceptedCount, 'device')} accepted, none authenticated after that`;
  return [
    reachedFinding,
    { ...accept, state: acceptedCount === 0 ? 'not accepted' : 'inconclusive', sentence, brief },
  ];
}

const authRequest = contractOperations['post-auth-request'].id;
const deviceOperations: ReadonlySet<string> = new Set(
  Object.values(contractOperations).map(({ id }) => id),
);

/** Returns true when any request of a device was answered, by whatever status. */
export function hasAnyResponse({ operations }: FleetResult): boolean {
  return operations.some(
    ({ operation, responses }) =>
      deviceOperations.has(operation) && Object.values(responses).some((count) => count > 0),
  );
}

/**
 * Returns true when the server accepted any device, even if the device is pending or off at the
 * end. A success with a body that the device cannot use, as in place of a token, is not an acceptance.
 */
export function isAnyAccepted(result: FleetResult): boolean {
  const { devices, pending, off, noContact } = result.funnel;
  if (pending + off + noContact < devices) return true;
  return result.operations.some(
    (row) => deviceOperations.has(row.operation) && usableResponses(row, result) > 0,
  );
}

/** Returns the number of successes of an operation with a body that the devices could use. */
function usableResponses(
  { operation, responses }: OperationCount,
  { errors }: FleetResult,
): number {
  const unusable = errors.filter(
    (row) => row.operation === operation && row.cause.startsWith('response/'),
  );
  return (responses['2xx'] ?? 0) - unusable.reduce((sum, { count }) => sum + count, 0);
}

const polls: ReadonlySet<string> = new Set(pollOperations);

/** Returns a finding when devices polled, and no poll was answered as by this API. */
export function pollFindings(result: FleetResult): readonly RunFinding[] {
  const rows = result.operations.filter(({ operation }) => polls.has(operation));
  const isUsable = rows.some((row) => usableResponses(row, result) > 0);
  if (rows.length === 0 || isUsable || !isAnyAccepted(result)) return [];
  const condition = 'polls are answered';
  const sentence = 'No poll of a device had a response that it could use: see the errors by cause.';
  return [{ condition, state: 'inconclusive', sentence, brief: 'no poll succeeded' }];
}

/**
 * Returns the number of authentication sets that the user accepted. Their devices may not have
 * authenticated since.
 */
function acceptedByUser({ operations }: FleetResult): number {
  const accepts = operations.find(({ operation }) => operation === 'set-auth-set-status');
  return accepts?.responses['2xx'] ?? 0;
}

/**
 * Returns true when the thresholds measure only authentication requests; such a run needs no
 * accepted device.
 */
function isAboutAuthRequests({ thresholds }: FleetResult): boolean {
  const texts = thresholds.map(({ threshold }) => threshold);
  // A result from a file may contain any text as a threshold.
  if (texts.length === 0 || !v.is(thresholdsShape, texts)) return false;
  return texts.every((text) => {
    const { subject } = thresholdOf(text);
    const operations = 'operations' in subject ? subject.operations : [];
    return operations.length > 0 && operations.every((operation) => operation === authRequest);
  });
}

/**
 * Returns sentences that say what to do about pending devices: those of a run without a user,
 * or a fleet of which no device was accepted.
 */
export function remedies(result: FleetResult): string[] {
  const { reconciliation, funnel } = result;
  if (reconciliation.reason === noUser && funnel.pending > 0) {
    return [acceptanceHint(funnel.pending)];
  }
  if (!hasAnyResponse(result) || isAnyAccepted(result)) return [];
  const acceptedCount = acceptedByUser(result);
  if (acceptedCount > 0) {
    return [
      `The user accepted ${countText(acceptedCount, 'device')}, and none authenticated before the end: ` +
        'let it run longer, or poll more often (--poll).',
    ];
  }
  const forbidden = result.errors.find(
    ({ operation, cause }) => cause === 'status/403' && !deviceOperations.has(operation),
  );
  if (forbidden) {
    return [
      `No device was accepted: the user lacks the right for ${forbidden.operation} (403); give ` +
        'the user a role that may list and accept devices.',
    ];
  }
  return ['No device was accepted: see the errors by cause, or let it run longer.'];
}

/** Returns a sentence that says how to accept pending devices. */
export function acceptanceHint(pending: number): string {
  const are = pending === 1 ? 'is' : 'are';
  return (
    `${countText(pending, 'device')} ${are} not accepted: run with --accept and --password or ` +
    '--token, or run: npx fleetbed accept --all; if it finds none, check that --url is the API of devices'
  );
}
