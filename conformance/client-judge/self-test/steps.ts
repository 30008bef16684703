/** The steps of a client, as a test changes them, and the events that a judge sees of them. */
import { storageOperations } from '../../../fixtures/contract/management/storage.ts';
import { type OperationId, operations } from '../../../fixtures/contract/operations.ts';
import type {
  ClientEvent,
  ClientExchange,
  ClientSocketEvent,
  FaultAlteration,
  ServerEvent,
} from '../../../fixtures/control/client-event.ts';
import { encodeConnectMessage } from '../../../fixtures/formats/connect-message.ts';
import { ed25519KeyFromSeed } from '../../signing/ed25519.ts';

/** One request of the device. It begins 10 s after the end of the step before, and takes 50 ms. */
export interface Request {
  readonly kind: 'request';
  readonly label: string;
  operation: OperationId | keyof typeof storageOperations;
  method?: string;
  /** Fills the parameter of the path. */
  id?: string;
  /** Replaces path and query. */
  target?: string;
  origin?: string;
  headers: Record<string, string>;
  /** The body as text, or as a value that is sent as JSON. */
  sent?: unknown;
  status: number;
  responseHeaders: Record<string, string>;
  response?: unknown;
  responseBytes?: number;
  isDelivered?: boolean;
  faultsAndVariations?: string[];
  alteration?: FaultAlteration;
  afterMs: number;
  tookMs: number;
  connection?: string;
  /** The device; by default the one that is judged. */
  client?: string;
}

/**
 * An event of the WebSocket, or an act of the server; it happens `afterMs` after the step before.
 */
export type EventStep =
  | (Omit<ClientSocketEvent, 'journalEntry' | 'client' | 'atMs'> & Placed)
  | (Omit<ServerEvent, 'atMs'> & Placed);

interface Placed {
  readonly label: string;
  afterMs: number;
}

export type Step = Request | EventStep;

export const deviceKey = ed25519KeyFromSeed(Buffer.alloc(32, 7));
export const otherKey = ed25519KeyFromSeed(Buffer.alloc(32, 8));
export const api = 'https://api.example';
export const storage = 'https://files.example';
export const startMs = Date.UTC(2026, 0, 31, 12);
const INTERVAL_MS = 10_000;
const DAY_MS = 86_400_000;
const DEVICE = 'device-1';
const rows = { ...operations, ...storageOperations };

/** Returns the link to the file of a deployment. */
export function linkOf(id: string): string {
  return `${storage}${storageOperations['download-artifact'].path.replace('{id}', id)}?x-svc-signature=${id}`;
}

/** Signatures by key and body, since a test repeats the steps many times. */
const signatures = new Map<string, string>();

/** Returns a signed authentication request. */
export function authenticationRequest(
  label: string,
  more: Partial<Request> = {},
  signer = deviceKey,
): Request {
  const body = JSON.stringify({
    id_data: JSON.stringify({ mac: '02:00:00:00:00:01' }),
    pubkey: signer.publicKeyPem,
    tenant_token: 'tenant',
  });
  const sentText = typeof more.sent === 'string' ? more.sent : body;
  const name = signer.publicKeyPem + sentText;
  const signature = signatures.get(name) ?? signer.sign(Buffer.from(sentText)).toString('base64');
  signatures.set(name, signature);
  return request(label, 'post-auth-request', {
    headers: { 'X-SVC-Signature': signature },
    status: 401,
    response: { error: 'dev auth: unauthorized' },
    ...more,
    sent: sentText,
  });
}

/** Returns a request of the device. */
export function request(
  label: string,
  operation: Request['operation'],
  more: Partial<Request> = {},
): Request {
  const afterMs = INTERVAL_MS;
  const base = { kind: 'request', label, operation, afterMs, tookMs: 50, status: 204 } as const;
  return { ...base, headers: {}, responseHeaders: {}, ...more };
}

/** Returns the payload of a message on the WebSocket. */
export function message(proto: number, typ: string, sid?: string): Buffer {
  return encodeConnectMessage({ proto, typ, ...(sid !== undefined && { sid }) });
}

/** Returns the events of steps, with their times. */
export function eventsOf(steps: readonly Step[]): ClientEvent[] {
  let nowMs = 0;
  let offsetMs = startMs;
  return steps.map((step, index) => {
    nowMs += step.afterMs;
    if (step.kind === 'server') {
      const { label: _, afterMs: __, ...event } = step;
      if (event.event === 'clock-moved') offsetMs += Number(event.about) * DAY_MS;
      return { ...event, atMs: nowMs };
    }
    const journalEntry = index + 1;
    if (step.kind === 'socket') {
      const { label: _, afterMs: __, ...event } = step;
      return { ...event, journalEntry, client: DEVICE, atMs: nowMs };
    }
    const exchange = exchangeOf(step, journalEntry, nowMs, offsetMs);
    nowMs += step.tookMs;
    return exchange;
  });
}

function exchangeOf(
  step: Request,
  journalEntry: number,
  sentMs: number,
  offsetMs: number,
): ClientExchange {
  const { operation, sent, response, status, tookMs, id = '', origin = api } = step;
  const row = rows[operation];
  const target = step.target ?? row.path.replace(/\{\w+\}/, id);
  const body = bytesOf(sent);
  const responseBody = bytesOf(response) ?? Buffer.alloc(0);
  const headers = {
    Host: new URL(origin).host,
    ...(body && { 'Content-Type': 'application/json', 'Content-Length': `${body.length}` }),
    ...step.headers,
  };
  const endedMs = sentMs + tookMs;
  return {
    kind: 'exchange',
    journalEntry,
    client: step.client ?? DEVICE,
    method: step.method ?? row.method,
    url: origin + target,
    requestHeaders: Object.entries(headers).filter(([, value]) => value !== ''),
    requestBody: body,
    status,
    responseHeaders: Object.entries(step.responseHeaders),
    responseBody,
    responseBytes: step.responseBytes ?? responseBody.length,
    isDelivered: step.isDelivered ?? true,
    sentMs,
    endedMs,
    serverNowMs: offsetMs + endedMs,
    faultsAndVariations: step.faultsAndVariations ?? [],
    alteration: step.alteration,
    connection: step.connection ?? 'connection-1',
  };
}

function bytesOf(value: unknown): Buffer | undefined {
  if (value === undefined || Buffer.isBuffer(value)) return value;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}
