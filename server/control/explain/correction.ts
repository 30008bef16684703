/** From a refusal to the request that would succeed, and the steps before it. */

import { apiPrefixes } from '../../../fixtures/contract/deprecations.ts';
import { storageOperations } from '../../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import { type Mounts, UnknownPath } from '../../pipeline/mounted.ts';
import { lookUpFor, nearestOperation, operationAt, parametersIn } from './nearest.ts';
import { neighbourOf, operationsOf } from './neighbour.ts';
import { type Planned, plan } from './planned.ts';
import { askedInForm } from './polls.ts';
import { remedyOf } from './remedy.ts';
import { type KnownStore, type Step, stepsOf } from './steps.ts';
import type { RefusedRequest } from './wrong.ts';

/** A request that succeeds, with the steps before it. */
export interface Correction {
  readonly request: Planned;
  readonly steps: readonly Step[];
  /** Set when the answer holds a link, which is then fetched. */
  readonly followsLink?: true;
}

/** What to do about a refusal. */
export interface Advice {
  /** What to do first, in words. */
  readonly first?: string;
  /** Absent where no request brings about what was asked for. */
  readonly correction?: Correction;
}

/** What a correction is made from. */
export interface Refused extends RefusedRequest {
  /** Where it was wrong, such as `body.status`. */
  readonly place: string;
  readonly store: KnownStore;
  readonly mounts: Mounts;
  /** Name of another tenant than the first one. */
  readonly otherTenant?: string;
}

export function adviceOn(refused: Refused): Advice {
  const meant = meantBy(refused);
  if (!meant) return firstOf(remedyOf(refused, undefined, []));
  const operation = instead(meant, refused) ?? meant;
  const steps = stepsOf(refused, operation);
  return {
    ...firstOf(remedyOf(refused, operation, steps)),
    correction: {
      request: plannedFor(operation, meant, refused),
      steps,
      ...(meant.authorization === 'link' && { followsLink: true }),
    },
  };
}

function firstOf(first: string | undefined): Pick<Advice, 'first'> {
  return first === undefined ? {} : { first };
}

function plannedFor(operation: Operation, meant: Operation, refused: Refused): Planned {
  const { asked, refusal, place } = refused;
  const isOther = operation !== refused.operation && operation !== meant;
  const parameters = parametersIn(meant, asked.path);
  // What was sent to another operation says nothing of this one, except for what a link was for.
  const { device_type = '' } = parameters;
  const search = device_type === '' ? '' : `device_type=${device_type}`;
  const own = isOther ? { ...asked, search, body: undefined, bodyBytes: 0 } : asked;
  const said = askedInForm(own, operation, refused.store, parameters.device_id);
  return plan(operation, {
    asked: isOther ? { ...said, headers: new Map() } : said,
    parameters,
    status: refusal.status,
    // What was wrong is no longer there.
    place: said === own ? place : '',
  });
}

/** The operation that the request was for, or most likely meant; undefined where there is none. */
function meantBy({ asked, refusal, operation, mounts }: Refused): Operation | undefined {
  if (operation) return operation;
  const evidence = refusal.detail?.evidence;
  if (evidence instanceof UnknownPath) return neighbourOf(asked, evidence).operation;
  const allowed = refusal.headers.Allow?.split(', ') ?? [asked.method];
  const known = operationsOf(mounts);
  return (
    operationAt(asked.path, allowed, known) ??
    nearestOperation(asked.method, asked.path, known).operation
  );
}

/** The operation to call in place of the one that was meant. */
function instead(meant: Operation, { refusal, place, operation, mounts }: Refused) {
  const { status } = refusal;
  const known = operationsOf(mounts);
  if (status === 410 && meant.deprecated) return successorOf(meant.deprecated, known);
  const link: Operation = operations['get-artifact-link'];
  if (meant.id === storageOperations['download-artifact'].id && known.includes(link)) return link;
  if (meant.authorization === 'link') return operations['get-next-deployment'];
  const isMissing = operation !== undefined && place.startsWith('path.') && status !== 403;
  // Where the state is not in the way for long, the same request is right later.
  const isState =
    status === 409 && !place.startsWith('body.') && refusal.detail?.remedy === undefined;
  return (isMissing || isState) && status !== 400 ? lookUpFor(meant, known) : undefined;
}

function successorOf(
  { successor }: NonNullable<Operation['deprecated']>,
  known: readonly Operation[],
): Operation | undefined {
  const path = `${apiPrefixes.management}${successor.version}${successor.path}`;
  const isSuccessor = (one: Operation): boolean =>
    one.method === successor.method && sameForm(one.path) === sameForm(path);
  return known.find(isSuccessor);
}

function sameForm(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}
