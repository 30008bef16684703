/**
 * The result of a client test: its shape, the JSON Schema derived from the
 * shape, and a reader for results of earlier runs.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { dutyLevels, dutyStates } from '../../../fixtures/control/clients.ts';

/** The version of the schema; a new number means that readers must change. */
export const clientTestVersion = 'fleetbed-client-test/1';

/** The capabilities of a client, besides updates, that some scenes need. */
export const capabilityNames = ['tls', 'websocket', 'control-map'] as const;

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const flag = v.boolean();
const list = <Item extends v.GenericSchema>(item: Item) => v.pipe(v.array(item), v.readonly());
const texts = list(text);
const waiver = { reason: text, owner: text, expires: text };

const exchange = v.object({
  sequence: count,
  line: v.pipe(text, v.description('The exchange as one line.')),
  method: text,
  url: text,
  requestHeaders: list(v.pipe(v.tuple([text, text]), v.readonly())),
  requestBody: text,
  status: v.pipe(count, v.description('0 if there was no response.')),
  responseBody: text,
  faultsAndVariations: v.pipe(
    texts,
    v.description('Planned faults and variations that changed the response.'),
  ),
});

const violation = v.object({
  scene: text,
  journalEntry: v.pipe(
    count,
    v.description(
      'Number of the exchange that shows the violation; 0 when the client sent no request.',
    ),
  ),
  contradicts: v.exactOptional(count),
  operation: text,
  atMs: v.number(),
  message: v.pipe(text, v.description('What is wrong, as a sentence.')),
  request: v.exactOptional(v.pipe(text, v.description('The exchange as one line.'))),
  exchanges: list(exchange),
});

const duty = v.object({
  duty: text,
  level: v.picklist(dutyLevels),
  state: v.picklist(dutyStates),
  sentence: text,
  source: text,
  remedy: v.pipe(text, v.description('What the author of the client should change.')),
  judged: v.pipe(count, v.description('Number of events by which the duty was judged.')),
  scenes: v.pipe(texts, v.description('The scenes by which the duty was judged.')),
  violationCount: count,
  violations: list(violation),
  openSinceMs: v.exactOptional(v.number()),
  observation: v.exactOptional(text),
  next: v.exactOptional(
    v.object({ text, command: v.exactOptional(text), scene: v.exactOptional(text) }),
  ),
  reason: v.exactOptional(v.pipe(text, v.description('Why the duty was not tested.'))),
  waiver: v.exactOptional(v.object(waiver)),
});

const sessionStep = v.object({
  sequence: v.exactOptional(
    v.pipe(count, v.description('Number of the exchange, or of the event of a WebSocket.')),
  ),
  atMs: v.pipe(count, v.description('Milliseconds since the first step.')),
  by: v.pipe(
    v.picklist(['client', 'server', 'client-test']),
    v.description('Who caused the event; an event without a number was caused by the client test.'),
  ),
  text,
  response: v.exactOptional(v.pipe(text, v.description('The response to a request.'))),
});

const scene = v.object({
  scene: text,
  outcome: v.picklist(['completed', 'stopped', 'no-request', 'skipped']),
  reason: v.exactOptional(text),
  durationMs: count,
  session: v.exactOptional(
    v.pipe(
      list(sessionStep),
      v.description('The events of a scene in which a duty was broken, or that stopped.'),
    ),
  ),
});

const cut = v.object({
  point: text,
  sentRequestAgain: v.pipe(
    flag,
    v.description('The client sent a request after the cut, without help.'),
  ),
  finalStatuses: v.pipe(
    texts,
    v.description('The final statuses that the server accepted; a good client has exactly one.'),
  ),
  polledAgain: flag,
  reportedFalseSuccess: v.pipe(
    flag,
    v.description('The client reported success of an artifact that it has not installed.'),
  ),
});

const clientTestShape = v.pipe(
  v.object({
    schema: v.literal(clientTestVersion),
    outcome: v.picklist(['broken', 'inconclusive', 'met', 'no-request', 'interrupted']),
    headline: v.pipe(text, v.description('The outcome and its reason, as a sentence.')),
    failOn: v.picklist(['should', 'must']),
    seed: text,
    command: v.exactOptional(text),
    intervalMs: v.exactOptional(
      v.pipe(count, v.description('The poll interval of the client, as measured.')),
    ),
    capabilities: list(v.picklist(capabilityNames)),
    scenes: list(scene),
    cuts: list(cut),
    cutBy: v.picklist(['process killed', 'power cut']),
    duties: list(duty),
    waivers: list(
      v.object({
        ...waiver,
        duty: text,
        state: v.picklist(['used', 'not-decided', 'expired', 'obsolete']),
      }),
    ),
    problems: texts,
  }),
  v.title('Result of a test of a device client by Fleetbed'),
  v.description('Version 1. Readers must accept unknown fields.'),
);

/** The result of a client test. */
export type ClientTestResult = v.InferOutput<typeof clientTestShape>;

/** A duty in a result, joined from all scenes. */
export type TestedDuty = ClientTestResult['duties'][number];

/** A scene in a result. */
export type SceneResult = ClientTestResult['scenes'][number];

/**
 * A step of a scene in its result: a request with its response, an event of a socket, or an event
 * of the server.
 */
export type SessionStep = v.InferOutput<typeof sessionStep>;

/** The requests of a client after a cut. */
export type CutOutcome = ClientTestResult['cuts'][number];

/** An exchange in a result, with secrets masked. */
export type ShownExchange = v.InferOutput<typeof exchange>;

/** The name of a capability of a client that some scenes need. */
export type ClientCapability = (typeof capabilityNames)[number];

/** The JSON Schema of a result, draft 7. */
export function clientTestSchema(): object {
  return {
    $id: 'urn:fleetbed:client-test:1',
    ...toJsonSchema(clientTestShape, { ignoreActions: ['readonly'] }),
  };
}

/**
 * Parses a result. Throws an error whose message is the end of a sentence that starts with the name
 * of the file.
 */
export function readClientTestResult(json: string): ClientTestResult {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error('is not JSON', { cause: error });
  }
  const result = v.safeParse(clientTestShape, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const where = v.getDotPath(issue) ?? 'the whole';
  throw new Error(`is no result of a client test: ${where} is not ${issue.expected}`);
}
