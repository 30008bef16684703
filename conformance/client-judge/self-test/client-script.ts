/** Builds the steps of a client one by one, and keeps what the client knows. */
import type { ClientSocketEvent, ServerEvent } from '../../../fixtures/control/client-event.ts';
import {
  authenticationRequest,
  type EventStep,
  linkOf,
  type Request,
  request,
  type Step,
  startMs,
  storage,
} from './steps.ts';

const FILE_BYTES = 400_000;
const WEEK_SECONDS = 604_800;

/**
 * Returns a token whose number makes it unlike the others. @param exp in seconds since the epoch
 */
function tokenOf(number: number, exp: number): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ sub: 'device-1', jti: number, exp })}.c2ln`;
}

/** The steps of a client so far. */
export class ClientScript {
  readonly steps: Step[] = [];
  name = 'one';
  token = '';
  tokens = 0;
  announces = false;

  authorized(label: string, operation: Request['operation'], more: Partial<Request> = {}): Request {
    const headers = { Authorization: `Bearer ${this.token}`, ...more.headers };
    const step = request(label, operation, { ...more, headers });
    this.steps.push(step);
    return step;
  }

  authenticates(label: string, dayOfExpiry = 7): void {
    this.tokens += 1;
    const exp = startMs / 1000 + (dayOfExpiry / 7) * WEEK_SECONDS;
    const token = tokenOf(this.tokens, exp);
    this.steps.push(authenticationRequest(label, { status: 200, response: token }));
    this.token = token;
  }

  polls(label: string, more: Partial<Request> = {}): Request {
    return this.authorized(label, 'post-next-deployment-v2', {
      sent: {
        device_provides: {
          device_type: 'board',
          artifact_name: this.name,
          'rootfs.checksum': 'c0',
        },
        ...(this.announces && { update_control_map: true }),
      },
      ...more,
    });
  }

  offered(label: string, id: string, name: string, artifact: object = {}): void {
    this.polls(label, {
      status: 200,
      response: {
        id,
        artifact: {
          artifact_name: name,
          device_types_compatible: ['board'],
          source: { uri: linkOf(id), expire: '2026-02-02T00:00:00Z' },
          ...artifact,
        },
      },
    });
  }

  fetches(label: string, id: string, more: Partial<Request> = {}): void {
    const step = request(label, 'download-artifact', {
      id,
      afterMs: 200,
      tookMs: 900,
      status: 200,
      responseBytes: FILE_BYTES,
      origin: storage,
      target: linkOf(id).slice(storage.length),
      ...more,
    });
    step.responseHeaders = {
      'Content-Length': `${FILE_BYTES}`,
      ETag: `"${id}"`,
      ...more.responseHeaders,
    };
    this.steps.push(step);
  }

  reports(label: string, id: string, status: string, more: Partial<Request> = {}): void {
    this.authorized(label, 'put-deployment-status', {
      id,
      sent: { status },
      afterMs: 300,
      ...more,
    });
  }

  inventories(label: string): void {
    this.authorized(label, 'put-attributes', {
      status: 200,
      afterMs: 300,
      sent: [
        { name: 'device_type', value: 'board' },
        { name: 'artifact_name', value: this.name },
        { name: 'cpu_load', value: 0.42 },
        { name: 'addresses', value: ['::1', '127.0.0.1'] },
      ],
    });
  }

  updates(id: string, name: string): void {
    this.offered(`${id}: offer`, id, name);
    this.reports(`${id}: downloading`, id, 'downloading');
    this.fetches(`${id}: download`, id);
    this.reports(`${id}: installing`, id, 'installing');
    this.reports(`${id}: success`, id, 'success');
    this.name = name;
    this.polls(`${id}: poll after`);
  }

  addServerEvent(label: string, event: ServerEvent['event'], about?: string): void {
    const subject = about === undefined ? {} : { about };
    this.steps.push({ kind: 'server', label, event, client: 'device-1', afterMs: 100, ...subject });
  }

  socket(
    label: string,
    event: ClientSocketEvent['event'],
    from: ClientSocketEvent['from'],
    more: Partial<Extract<EventStep, { kind: 'socket' }>> = {},
  ): void {
    this.steps.push({ kind: 'socket', label, event, from, socket: 's1', afterMs: 500, ...more });
  }

  connects(label: string, keyByte: number, socket: string): void {
    this.authorized(label, 'connect', {
      status: 101,
      headers: {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Version': '13',
        'Sec-WebSocket-Key': Buffer.alloc(16, keyByte).toString('base64'),
      },
    });
    this.socket(`${label}: opened`, 'opened', 'device', { socket, afterMs: 1 });
  }
}
