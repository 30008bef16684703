/** From a refusal to the request that would succeed, and the steps before it. */

import { apiPrefixes } from '../../../fixtures/contract/deprecations.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { storageOperations } from '../../../fixtures/contract/management/storage.ts';
import { type Operation, pathOf } from '../../../fixtures/contract/operation.ts';
import { operations } from '../../../fixtures/contract/operations.ts';
import type { KeyType } from '../../../fixtures/contract/vocabulary.ts';
import { valueText } from '../../../fixtures/value-text.ts';
import { readPublicKey } from '../../crypto/public-key.ts';
import type { Refusal } from '../../http/refusal.ts';
import { mountedOperations } from '../../pipeline/endpoint.ts';
import { readIdentity } from '../../rules/identity.ts';
import type { Store } from '../../store/store.ts';
import { type Asked, jsonOf, subjectOf, textOf } from './asked.ts';
import { lookUpFor, nearestOperation, operationAt, parametersIn } from './nearest.ts';
import { type Planned, plan } from './planned.ts';

/** A step before the request itself. */
export type Step =
  | { readonly does: 'device-token'; readonly identity?: string; readonly keyType?: KeyType }
  | { readonly does: 'user-token'; readonly email?: string }
  | { readonly does: 'accept'; readonly path: string }
  | { readonly does: 'wait'; readonly seconds: number };

/** A request that succeeds, with the steps before it. */
export interface Correction {
  readonly request: Planned;
  readonly steps: readonly Step[];
  /** What to do first, in words. */
  readonly first?: string;
  /** Set when the answer holds a link, which is then fetched. */
  readonly followsLink?: true;
}

/** What a correction is made from. */
interface Refused {
  readonly asked: Asked;
  readonly refusal: Refusal;
  /** Where it was wrong, such as `body.status`. */
  readonly place: string;
  /** Absent when the request found none. */
  readonly operation: Operation | undefined;
  readonly store: Pick<Store, 'devices' | 'users'>;
}

export function correctionOf(refused: Refused): Correction {
  const { asked, refusal, place } = refused;
  const meant = meantBy(refused);
  const operation = instead(meant, refused) ?? meant;
  const isOther = operation !== refused.operation && operation !== meant;
  const parameters = parametersIn(meant, asked.path);
  // What was sent to another operation says nothing of this one, except for what a link was for.
  const { device_type = '' } = parameters;
  const search = device_type === '' ? '' : `device_type=${device_type}`;
  const planned = plan(operation, {
    asked: isOther ? { ...asked, search, body: undefined, headers: new Map() } : asked,
    parameters,
    status: refusal.status,
    place,
  });
  const first = wordsOf(refused, operation);
  const followsLink = meant.authorization === 'link';
  return {
    request: planned,
    steps: stepsOf(refused, operation),
    ...(first !== undefined && { first }),
    ...(followsLink && { followsLink }),
  };
}

/** The operation that the request was for, or most likely meant. */
function meantBy({ asked, refusal, operation }: Refused): Operation {
  if (operation) return operation;
  const allowed = refusal.headers.Allow?.split(', ') ?? [];
  return operationAt(asked.path, allowed) ?? nearestOperation(asked.method, asked.path);
}

/** The operation to call in place of the one that was meant. */
function instead(meant: Operation, { refusal, place, operation }: Refused): Operation | undefined {
  const { status } = refusal;
  if (status === 410 && meant.deprecated) return successorOf(meant.deprecated);
  if (meant.id === storageOperations['download-artifact'].id) {
    return operations['get-artifact-link'];
  }
  if (meant.authorization === 'link') return operations['get-next-deployment'];
  const isMissing = status === 404 && operation !== undefined;
  const isState = status === 409 && !place.startsWith('body.');
  return isMissing || isState ? lookUpFor(meant) : undefined;
}

function successorOf({ successor }: NonNullable<Operation['deprecated']>): Operation | undefined {
  const path = `${apiPrefixes.management}${successor.version}${successor.path}`;
  const isSuccessor = (one: Operation): boolean =>
    one.method === successor.method && sameForm(one.path) === sameForm(path);
  return Object.values(mountedOperations).find(isSuccessor);
}

function sameForm(path: string): string {
  return path.replace(/\{\w+\}/g, '{}');
}

function stepsOf(refused: Refused, operation: Operation): Step[] {
  const { refusal, place } = refused;
  const wait = Number(refusal.headers['Retry-After']);
  if (Number.isInteger(wait) && wait > 0) return [{ does: 'wait', seconds: wait }];
  const isRole = refusal.status === 403;
  if (place !== 'header.Authorization' && !isRole) return acceptance(refused);
  if (operation.authorization === 'user') return [userToken(refused)];
  if (operation.authorization === 'basic') return [];
  return isRole ? [] : [deviceToken(refused)];
}

function userToken({ asked, store, refusal }: Refused): Step {
  // A user without permission has to ask another one.
  const user = refusal.status === 403 ? undefined : store.users.find(subjectOf(asked) ?? '');
  return { does: 'user-token', ...(user && { email: user.email }) };
}

function deviceToken({ asked, store }: Refused): Step {
  const device = store.devices.find(subjectOf(asked) ?? '');
  if (!device) return { does: 'device-token' };
  const sets = store.devices.authSets(device.id);
  const set = sets.find(({ status }) => status === 'accepted') ?? sets[0];
  const key = set && readPublicKey(set.publicKeyPem);
  const keyType = key && 'keyType' in key ? key.keyType : undefined;
  return { does: 'device-token', identity: device.identity, ...(keyType && { keyType }) };
}

/** For a known device that waits to be accepted. */
function acceptance({ asked, refusal, operation, store }: Refused): Step[] {
  const isAuthentication = operation?.id === operations['post-auth-request'].id;
  if (!isAuthentication || !refusal.error.startsWith('device not authorized')) return [];
  const body = jsonOf(textOf(asked))?.value;
  const given = new Map<string, unknown>(Object.entries(body ?? {}));
  const identity = readIdentity(valueText(given.get('id_data')));
  const key = readPublicKey(valueText(given.get('pubkey')));
  if ('because' in identity || 'because' in key) return [];
  const device = store.devices.findByIdentity(identity.canonical);
  const set = device && store.devices.findAuthSet(device.id, key.pem);
  if (!set) return [];
  const row = managementOperations['set-auth-set-status'];
  return [{ does: 'accept', path: pathOf(row, { id: set.deviceId, aid: set.id }) }];
}

const words: Readonly<Record<number, string>> = {
  401: 'get a valid token',
  403: 'use another user, or a role that permits it',
  409: 'check the current state, and resolve the conflict',
  413: 'send a smaller body',
  422: 'correct what the message names',
  429: 'wait for the time in Retry-After',
  500: "check the server's log; this is a server error",
};

/** Whoever asks for a token cannot be told to get one. */
function authenticationWords(place: string): string {
  return place.startsWith('header.')
    ? 'sign the bytes of the body exactly as they are sent'
    : 'have a user accept the device';
}

/** The remedy after the semicolon of the sentence. */
function wordsOf({ refusal, operation, place }: Refused, next: Operation): string | undefined {
  const { status, error } = refusal;
  const end = error.lastIndexOf('; ');
  const isAuthentication = status === 401 && operation?.id === operations['post-auth-request'].id;
  const usual = isAuthentication ? authenticationWords(place) : words[status];
  const told = end < 0 ? usual : error.slice(end + 2);
  if (next === operation || status === 410 || !operation) return told;
  const look = `${next.method} ${next.path} lists what exists`;
  return told === undefined ? look : `${told}; ${look}`;
}
