/**
 * Judges a server by a recording of its exchanges with devices. The checks of `device-traffic-judge.ts` judge the
 * entries; every entry that they cannot judge is counted with the reason.
 */
import { apiPrefixes } from '../../fixtures/contract/deprecations.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import { vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { openRecording, recordingLimits } from '../recordings/open-recording.ts';
import {
  type FullExchange,
  RecordingError,
  type RecordingFormat,
} from '../recordings/recording.ts';
import { recognizeRequest } from '../target/operation-at.ts';
import { SOURCE } from './device-history.ts';
import {
  DeviceTrafficJudge,
  deviceTrafficChecks,
  deviceTrafficRequirements,
  type ViolationEvidence,
} from './device-traffic-judge.ts';
import { RecordedDevices } from './recorded-device.ts';

/** Limit on the size of a recording, which is held in memory to sort its entries by time. */
const RECORDING_MAX_BYTES = 134_217_728;
/** Maximum number of entries named for each reason, and of servers named in an error. */
const NAMED_MAX = 5;

/** The reasons why an entry was not judged, each phrased as the end of a sentence. */
export const reasons = {
  'other-server': 'of other servers',
  'no-operation': 'not calls of this API',
  management: 'of the management API, which is not judged from recordings',
  'unchecked-operation':
    'of operations that nothing checks (artifacts, configuration files, WebSockets)',
  'no-response': 'without a response',
  'planned-fault': 'with a fault that was planned in a test server',
  'no-body': 'inconclusive without the body of the response, which is missing, cut off or masked',
  inconclusive: 'inconclusive on their own',
  'no-exchange': 'not exchanges: frames, or messages that are not HTTP',
} as const;

/** The entries that were not judged for one reason. */
interface UnjudgedEntries {
  readonly reason: keyof typeof reasons;
  readonly entries: number;
  /** The places of the first such entries in the file. */
  readonly first: readonly string[];
}

/** The judgement of one requirement by a recording. */
interface RecordedRequirement {
  readonly requirement: RequirementId;
  readonly sentence: string;
  /** Number of exchanges that the requirement judged, and of those that violated it. */
  readonly judged: number;
  readonly violated: number;
  readonly firstViolation?: RecordedViolation;
}

interface RecordedViolation extends ViolationEvidence {
  /** The place in the file of the entry that revealed the violation. */
  readonly entry: string;
  /** Time at which the request was sent, in ISO 8601 and UTC. */
  readonly at: string;
  readonly operation: string;
}

/** The judgement of a server by a recording. */
export interface RecordingJudgement {
  readonly file: string;
  readonly format: RecordingFormat;
  /** Base URL of the judged server; absent if the recording has paths only. */
  readonly server?: string;
  /** `inconclusive`: no entry decided any requirement. */
  readonly outcome: 'pass' | 'fail' | 'inconclusive';
  readonly entries: number;
  /** Number of entries that decided at least one requirement. */
  readonly judged: number;
  /** Number of devices that could be identified. */
  readonly devices: number;
  /** Number of entries judged without a history, since their device is unknown. */
  readonly alone: number;
  /** Every requirement that a recording can decide. */
  readonly requirements: readonly RecordedRequirement[];
  readonly leftOut: readonly UnjudgedEntries[];
}

/** Options for judging a recording. */
interface RecordingPlan {
  /** Base URL of the server; by default the one server in the recording that devices call. */
  readonly url?: string | undefined;
  /** The vendor's part of header names, such as `X-SVC`. */
  readonly headerPrefix: string;
  /** Limit on the size of the file in bytes. */
  readonly bytesMax?: number;
}

/**
 * Judges a server by a HAR file or a journal.
 * @throws RecordingError when the file has neither format, or has calls to several servers and `url`
 * is absent; the system's error when the file cannot be read
 */
export async function judgeRecording(
  file: string,
  { url, headerPrefix, bytesMax = RECORDING_MAX_BYTES }: RecordingPlan,
): Promise<RecordingJudgement> {
  const count = new JudgementCount(headerPrefix);
  const limits = { ...recordingLimits, harMaxBytes: bytesMax, journalMaxBytes: bytesMax };
  const { format, exchanges } = await openRecording(file, limits, (location) =>
    count.leaveOut('no-exchange', location),
  );
  const all: FullExchange[] = [];
  for await (const exchange of exchanges) all.push(exchange);
  const server = url === undefined ? serverOf(file, all) : new URL(url).href.replace(/\/$/, '');
  for (const each of all.toSorted((one, other) => one.endedMs - other.endedMs)) {
    count.add(each, server);
  }
  return { file, format, ...(server !== undefined && { server }), ...count.judgement() };
}

/**
 * Returns the base URL of the server that devices call, or else of the one that users call;
 * undefined if no entry has an absolute URL. Throws a RecordingError for several servers.
 */
function serverOf(file: string, exchanges: readonly FullExchange[]): string | undefined {
  const ofDevices = callsByServer(exchanges, apiPrefixes.device);
  const calls = ofDevices.size > 0 ? ofDevices : callsByServer(exchanges, apiPrefixes.management);
  const [firstServer, ...otherServers] = calls.keys();
  if (otherServers.length === 0) return firstServer;
  const serverTexts = [...calls]
    .map(([server, count]) => `${server} (${count})`)
    .slice(0, NAMED_MAX);
  const problem = `has calls of this API to ${calls.size} servers, ${serverTexts.join(', ')}`;
  throw new RecordingError(file, '', `${problem}; choose one with --url.`);
}

function callsByServer(
  exchanges: readonly FullExchange[],
  prefix: string,
): ReadonlyMap<string, number> {
  const calls = new Map<string, number>();
  for (const { url, method, pathname } of exchanges) {
    const at = pathname.indexOf(prefix);
    if (at < 0 || url.startsWith('/')) continue;
    if (recognizeRequest(method, pathname.slice(at)).row === undefined) continue;
    const server = new URL(overHttp(url)).origin + pathname.slice(0, at);
    calls.set(server, (calls.get(server) ?? 0) + 1);
  }
  return calls;
}

/** Returns the URL with `http` instead of `ws`, since a WebSocket starts as an HTTP request. */
function overHttp(url: string): string {
  return new URL(url.replace(/^ws/, 'http')).href;
}

interface RecordedCounts {
  judged: number;
  violated: number;
  firstViolation?: RecordedViolation;
}

/** Accumulates the judgement of a recording, entry by entry. */
class JudgementCount {
  readonly #judge: DeviceTrafficJudge;
  readonly #faultHeader: string;
  readonly #devices = new RecordedDevices();
  readonly #counts = new Map<RequirementId, RecordedCounts>();
  readonly #leftOut = new Map<keyof typeof reasons, { entries: number; first: string[] }>();
  #entries = 0;
  #judged = 0;
  #alone = 0;

  constructor(headerPrefix: string) {
    this.#judge = new DeviceTrafficJudge(headerPrefix);
    this.#faultHeader = vendorNames(headerPrefix).testbed.fault.toLowerCase();
  }

  leaveOut(reason: keyof typeof reasons, location: string): void {
    this.#entries += 1;
    const leftOut = this.#leftOut.get(reason) ?? { entries: 0, first: [] };
    leftOut.entries += 1;
    if (leftOut.first.length < NAMED_MAX) leftOut.first.push(location);
    this.#leftOut.set(reason, leftOut);
  }

  /** Judges an entry. Call it in the order in which the exchanges ended. */
  add(exchange: FullExchange, server: string | undefined): void {
    const ofLink = this.#devices.ofLink(absolute(exchange));
    const operation = ofLink === undefined ? operationOf(exchange, server) : { id: SOURCE };
    if ('reason' in operation) {
      this.leaveOut(operation.reason, exchange.location);
      return;
    }
    const knownDevice = ofLink ?? this.#devices.find(exchange);
    const device = knownDevice ?? this.#devices.another();
    const isDecided = this.#judgeExchange(exchange, operation.id, device);
    this.#devices.record(exchange, device);
    if (!isDecided) {
      this.leaveOut(this.#whyInconclusive(exchange), exchange.location);
      return;
    }
    this.#entries += 1;
    this.#judged += 1;
    if (knownDevice === undefined) this.#alone += 1;
  }

  judgement(): Omit<RecordingJudgement, 'file' | 'format' | 'server'> {
    const allCounts = [...this.#counts.values()];
    const isViolated = allCounts.some(({ violated }) => violated > 0);
    return {
      outcome: isViolated ? 'fail' : allCounts.length > 0 ? 'pass' : 'inconclusive',
      entries: this.#entries,
      judged: this.#judged,
      devices: this.#devices.count,
      alone: this.#alone,
      requirements: deviceTrafficRequirements.map(({ requirement }) => ({
        requirement,
        sentence: requirements[requirement].sentence,
        ...(this.#counts.get(requirement) ?? { judged: 0, violated: 0 }),
      })),
      leftOut: [...this.#leftOut].map(([reason, rest]) => ({ reason, ...rest })),
    };
  }

  #judgeExchange(exchange: FullExchange, operation: string, device: number): boolean {
    const { method, sentMs, endedMs, status, location } = exchange;
    const body = exchange.requestBody();
    const verdicts = this.#judge.judge({
      device,
      operation,
      method,
      url: absolute(exchange),
      sentMs,
      endedMs,
      headers: exchange.requestHeaders(),
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      ...(status > 0 && {
        response: { status, headers: exchange.responseHeaders(), body: exchange.responseBytes() },
      }),
    });
    for (const { requirement, evidence } of verdicts) {
      const counts = this.#counts.get(requirement) ?? { judged: 0, violated: 0 };
      counts.judged += 1;
      this.#counts.set(requirement, counts);
      if (!evidence) continue;
      counts.violated += 1;
      const at = new Date(sentMs).toISOString();
      counts.firstViolation ??= { entry: location, at, operation, ...evidence() };
    }
    return verdicts.length > 0;
  }

  #whyInconclusive(exchange: FullExchange): keyof typeof reasons {
    if (!(exchange.status > 0)) return 'no-response';
    if (exchange.responseHeaders()[this.#faultHeader] !== undefined) return 'planned-fault';
    return exchange.responseBytes() === undefined ? 'no-body' : 'inconclusive';
  }
}

const judgedOperations = new Set(deviceTrafficChecks.flatMap(({ operations: ids = [] }) => ids));

/** Returns the ID of the operation that an entry calls, or the reason why it cannot be judged. */
function operationOf(
  { url, method }: FullExchange,
  server: string | undefined,
): { readonly id: string } | { readonly reason: keyof typeof reasons } {
  const isPath = url.startsWith('/');
  if (!isPath && server === undefined) return { reason: 'no-operation' };
  const base = isPath ? '' : (server ?? '');
  const target = isPath ? url : overHttp(url);
  if (!target.startsWith(`${base}/`)) return { reason: 'other-server' };
  const { row } = recognizeRequest(method, target.slice(base.length).replace(/[?#].*$/s, ''));
  if (row === undefined) return { reason: 'no-operation' };
  if (judgedOperations.has(row.id)) return { id: row.id };
  return { reason: Object.hasOwn(operations, row.id) ? 'unchecked-operation' : 'management' };
}

/** Returns the absolute URL of an entry; the Host header completes an entry with a path only. */
export function absolute({ url, requestHeaders }: FullExchange): string {
  if (!url.startsWith('/')) return overHttp(url);
  const hostUrl = `http://${requestHeaders().host}${url}`;
  return new URL(URL.canParse(hostUrl) ? hostUrl : `http://localhost${url}`).href;
}
