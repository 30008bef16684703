/**
 * Judges a server by its exchanges with devices that the suite does not control. The judge sends no
 * requests, and decides a requirement only when the exchanges leave no doubt.
 */
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import { type VendorNames, vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { exchangeOf, type Headers, reportedExchange } from '../target/exchange.ts';
import { MASKED, Mask } from '../target/mask.ts';
import type { HttpResponse } from '../target/response.ts';
import {
  type ExchangeHistory,
  type NamedViolation,
  type PassiveCheck,
  verdictsOn,
} from './check.ts';
import { deploymentChecks } from './checks/deployments.ts';
import { responseChecks } from './checks/device-responses.ts';
import { tokenChecks } from './checks/tokens.ts';
import { DeviceHistory } from './device-history.ts';
import { JudgedExchange } from './judged-exchange.ts';
import { RunHistory } from './run-history.ts';

/** One request of a device and its response, as an observer recorded them. */
export interface ObservedExchange {
  /** Index of the device among the judged devices. */
  readonly device: number;
  /** ID of the contract's operation, or `download-artifact` for the source of a deployment. */
  readonly operation: string;
  readonly method: string;
  /** The absolute URL of the request. */
  readonly url: string;
  /** The headers of the request as they were sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /**
   * Milliseconds since the Unix epoch: `sentMs` is the start of the request, and `endedMs` is when
   * the response was complete.
   */
  readonly sentMs: number;
  readonly endedMs: number;
  /** The response; absent if none arrived. */
  readonly response?: ObservedResponse | undefined;
}

/** The response to an observed request. */
interface ObservedResponse {
  readonly status: number;
  /** The headers of the response, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body of the response; absent for files and for bodies over the size limit. */
  readonly body?: Buffer | undefined;
}

/** The verdict of an exchange on one requirement. */
export interface ServerVerdict {
  readonly requirement: RequirementId;
  /** Defined if the requirement is violated; returns the evidence, with secrets masked. */
  readonly evidence: (() => ViolationEvidence) | undefined;
}

/** The evidence of a violation: the expected and the actual value, and the exchange. */
export interface ViolationEvidence {
  readonly expected: string;
  readonly actual: string;
  /** The request; `line` has the method and the full URL, and long bodies are truncated. */
  readonly request: { readonly line: string; readonly headers: Headers; readonly body?: string };
  readonly response?: {
    readonly status: number;
    readonly headers: Headers;
    readonly body?: string;
  };
}

/** Every check that the traffic of a device can decide. */
export const deviceTrafficChecks: readonly PassiveCheck[] = [
  ...tokenChecks,
  ...deploymentChecks,
  ...responseChecks,
];

/** The requirements that the traffic of a device can decide, each with its sentence. */
export const deviceTrafficRequirements = [
  ...new Set(deviceTrafficChecks.flatMap(({ requirement }) => requirement ?? [])),
].map((requirement) => ({ requirement, sentence: requirements[requirement].sentence }));

/** Judges a server by its exchanges with many devices. The memory used for each is bounded. */
export class DeviceTrafficJudge {
  readonly #names: VendorNames;
  readonly #run = new RunHistory();
  readonly #devices = new Map<number, DeviceHistory>();

  /** @param headerPrefix the vendor's part of header names, such as `X-SVC` */
  constructor(headerPrefix: string) {
    this.#names = vendorNames(headerPrefix);
  }

  /** Judges an exchange and returns its verdicts. Call it in the order in which exchanges end. */
  judge(observed: ObservedExchange): readonly ServerVerdict[] {
    const operation = judgedOperations.get(observed.operation);
    if (operation === undefined) return [];
    const device = this.#historyOf(observed.device);
    const { response } = observed;
    // An injected fault of a test server is not a violation by the server.
    const isPlanned = response?.headers[this.#names.testbed.fault.toLowerCase()] !== undefined;
    if (response === undefined || isPlanned) {
      device.recordNoResponse(operation.id, observed.url);
      return [];
    }
    const exchange = judgedExchange(operation, { ...observed, response }, this.#names);
    const verdicts = this.#verdictsOn(exchange, { run: this.#run, device });
    device.record(exchange);
    return verdicts;
  }

  #verdictsOn(exchange: JudgedExchange, history: ExchangeHistory): readonly ServerVerdict[] {
    const verdicts = new Map<RequirementId, ServerVerdict>();
    for (const { check, violation } of verdictsOn(deviceTrafficChecks, exchange, history)) {
      const requirement = violation?.requirement ?? check.requirement;
      // Several checks may decide one requirement, which holds only if none of them is violated.
      if (requirement === undefined || verdicts.get(requirement)?.evidence) continue;
      const shows = check.about?.(exchange, history) ?? exchange;
      const evidence = violation && (() => evidenceOf(violation, shows));
      verdicts.set(requirement, { requirement, evidence });
    }
    return [...verdicts.values()];
  }

  #historyOf(index: number): DeviceHistory {
    const earlierHistory = this.#devices.get(index);
    if (earlierHistory) return earlierHistory;
    const history = new DeviceHistory();
    this.#devices.set(index, history);
    return history;
  }
}

/** The operations whose exchanges the judge reads, by ID. */
const judgedOperations = new Map<string, Operation>(
  Object.entries({ ...operations, ...storageOperations }),
);

function judgedExchange(
  operation: Operation,
  { response, body, ...request }: ObservedExchange & { readonly response: ObservedResponse },
  { requestId }: VendorNames,
): JudgedExchange {
  const bytes = response.body ?? Buffer.alloc(0);
  const headers = Object.entries(response.headers).map(([name, value = '']) => [
    name,
    String(value),
  ]);
  return new JudgedExchange(
    operation,
    { ...request, body, bodyBytes: Buffer.byteLength(body ?? ''), isChunked: false },
    {
      response: {
        status: response.status,
        headers: Object.fromEntries(headers),
        bytes,
        text: bytes.toString('utf8'),
      },
      requestIdHeader: requestId,
      isWhole: response.body !== undefined,
    },
  );
}

function evidenceOf(
  { part, expected, actual }: NamedViolation,
  { operation, request: { url, headers, body, sentMs, endedMs }, response }: JudgedExchange,
): ViolationEvidence {
  const { request, response: recorded } = reportedExchange(
    exchangeOf(
      { method: operation.method, url, headers: withoutSignature(headers), body },
      response,
      {
        startMs: 0,
        elapsedMs: endedMs - sentMs,
      },
    ),
  );
  const { line, headers: requestHeaders, body: sentBody } = request;
  return maskFor(operation, response).value({
    expected: `${part} to ${expected}`,
    actual,
    request: { line, headers: requestHeaders, ...(sentBody !== undefined && { body: sentBody }) },
    ...(recorded && { response: recorded }),
  });
}

/**
 * Returns a mask that knows the token which the response grants. No pattern recognizes a token that
 * is not a JWT, and a report may show it truncated, so the mask also gets its prefixes.
 */
function maskFor({ id }: Operation, { status, text }: HttpResponse): Mask {
  const mask = new Mask();
  if (id !== 'post-auth-request' || status !== 200) return mask;
  const token = text.trim().replaceAll('"', '');
  for (const length of shownLengths) mask.addSecret(token.slice(0, length), 'device-token');
  return mask;
}

/** The lengths to which reports truncate a body or a value, also less one for an opening quote. */
const shownLengths = [Number.POSITIVE_INFINITY, 4096, 4095, 300, 299];

/** Masks the signature, with which any reader could repeat the request and get a token. */
function withoutSignature(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    /-signature$/i.test(name) ? MASKED : value,
  ]);
  return Object.fromEntries(entries);
}
