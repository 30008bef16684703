/**
 * Differences of a defective client from the good one: changes of single steps of its script.
 */
import type { SceneName } from '../scene-names.ts';
import {
  authenticationRequest,
  deviceKey,
  linkOf,
  type Request,
  request,
  type Step,
} from './steps.ts';

/** Returns the steps of the defective client. The steps of the good one may be changed in place. */
export type Alter = (steps: Step[]) => Step[];

/** A defective client. */
export interface DefectiveClient {
  readonly duty: string;
  /** The defect of the client, for the title of the test. */
  readonly description: string;
  readonly alter: Alter;
  /** Duties that the same change breaks as well. */
  readonly consequences?: readonly string[];
}

/** Returns true for a step with a label. */
export const hasLabel = (pattern: string | RegExp) => (step: Step) =>
  typeof pattern === 'string' ? step.label === pattern : pattern.test(step.label);

/** Changes the requests with a label, by a function or to these values; headers are added. */
export function editSteps(
  pattern: string | RegExp,
  change: Partial<Request> | ((step: Request) => void),
): Alter {
  return (steps) => {
    for (const step of steps.filter(hasLabel(pattern))) {
      if (step.kind !== 'request') continue;
      if (typeof change === 'function') change(step);
      else {
        const headers = { ...step.headers, ...change.headers };
        const responseHeaders = { ...step.responseHeaders, ...change.responseHeaders };
        Object.assign(step, change, { headers, responseHeaders });
      }
    }
    return steps;
  };
}

/** Leaves steps out. */
export function dropSteps(pattern: string | RegExp): Alter {
  return (steps) => steps.filter((step) => !hasLabel(pattern)(step));
}

/** Puts steps behind the one with the label; `make` gets a copy of that request. */
export function insert(label: string, make: (copy: Request) => readonly Step[]): Alter {
  return (steps) =>
    steps.flatMap((step) =>
      step.label === label ? [step, ...make(copyOf(step as Request))] : [step],
    );
}

/** Makes several changes, one after the other. */
export function all(...changes: readonly Alter[]): Alter {
  return (steps) => changes.reduce((changedSteps, change) => change(changedSteps), steps);
}

/** Returns a copy of a request whose headers can be changed. */
export function copyOf(step: Request): Request {
  return { ...step, headers: { ...step.headers }, responseHeaders: { ...step.responseHeaders } };
}

/** Sends a request again so many times. */
export function repeated(label: string, count: number, more: Partial<Request> = {}): Alter {
  return insert(label, (copy) =>
    Array.from({ length: count }, () => ({ ...copyOf(copy), ...more })),
  );
}

/** Changes members of the body of a request, by a function or to these values. */
export function body(
  pattern: string | RegExp,
  change: Record<string, unknown> | ((sent: Record<string, unknown>) => void),
): Alter {
  return editSteps(pattern, (step) => {
    const requestJson = structuredClone(step.sent) as Record<string, unknown>;
    if (typeof change === 'function') change(requestJson);
    else Object.assign(requestJson, change);
    step.sent = requestJson;
  });
}

/** Changes what polls say about the device. */
export function provides(pattern: string | RegExp, values: Record<string, unknown>): Alter {
  return body(pattern, (sent) => Object.assign(sent.device_provides as object, values));
}

/** Authenticates with another body. */
export function authenticating(
  pattern: string | RegExp,
  change: (sent: Record<string, unknown>) => void,
  signer = deviceKey,
): Alter {
  return (steps) =>
    steps.map((step) => {
      if (!hasLabel(pattern)(step) || step.kind !== 'request') return step;
      const requestJson = JSON.parse(String(step.sent)) as Record<string, unknown>;
      change(requestJson);
      const { headers: _, ...rest } = step;
      return authenticationRequest(
        step.label,
        { ...rest, sent: JSON.stringify(requestJson) },
        signer,
      );
    });
}

/** The polls after the first update that fails, up to the next that succeeds. */
export const afterFailure =
  /^f[123]: poll|^f[23]: offer|idle again|^c1: (offer|poll)|before map|^m1: offer/;
/** Every authentication request. */
export const everyAuthentication = /^pending|token/;

/** Lets the steps after one label and up to another one, with a time after it, be a scene. */
export function scene(name: SceneName, afterLabel: string, upTo: string, idleMs = 10): Alter {
  const sceneEvent = { kind: 'server', client: 'device-1', afterMs: 10, about: name } as const;
  return all(
    insert(afterLabel, () => [{ ...sceneEvent, label: 'scene began', event: 'scene-began' }]),
    insert(upTo, () => [
      { ...sceneEvent, label: 'scene ended', event: 'scene-ended', afterMs: idleMs },
    ]),
  );
}

/** A download of a whole file. */
export function download(id: string, more: Partial<Request> = {}): Request {
  return request(`${id}: download`, 'download-artifact', {
    id,
    afterMs: 200,
    status: 200,
    responseBytes: 400_000,
    origin: 'https://files.example',
    target: linkOf(id).slice('https://files.example'.length),
    responseHeaders: { 'Content-Length': '400000', ETag: `"${id}"` },
    ...more,
  });
}

/** A log of one line, with the token of another request. */
export function logOf(copy: Request, id: string, more: Partial<Request> = {}): Request {
  const line = { timestamp: '2026-01-31T12:00:00Z', level: 'error', message: 'failed' };
  const { headers } = copy;
  return request('log', 'put-deployment-log', {
    id,
    headers,
    afterMs: 300,
    sent: { messages: [line] },
    ...more,
  });
}

/** Lets the client fall silent after a step, until a scene ends. */
export function silentAfter(label: string, afterMs = 600_000): Alter {
  return (steps) => [
    ...steps.slice(0, steps.findIndex(hasLabel(label)) + 1),
    { kind: 'server', label: 'scene ended', event: 'scene-ended', client: 'device-1', afterMs },
  ];
}

/** Changes an event of the WebSocket. */
export function socket(label: string, more: object): Alter {
  return (steps) => steps.map((step) => (step.label === label ? { ...step, ...more } : step));
}
