/**
 * Judges a server by what passes between it and devices that are not the suite's own: it only looks
 * on, sends nothing, and says what is decided without doubt.
 */
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import type { Operation } from '../../fixtures/contract/operation.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import { type VendorNames, vendorNames } from '../../fixtures/contract/vendor-names.ts';
import type { Answer } from '../target/answer.ts';
import { exchangeOf, type Headers, reportedExchange } from '../target/exchange.ts';
import { MASKED, Mask } from '../target/mask.ts';
import { DeviceMemory } from './device-memory.ts';
import { JudgedExchange } from './judged-exchange.ts';
import { type Memory, type NamedViolation, type PassiveRule, verdictsOn } from './rule.ts';
import { deploymentRules } from './rules/deployments.ts';
import { answerRules } from './rules/device-answers.ts';
import { tokenRules } from './rules/tokens.ts';
import { RunMemory } from './run-memory.ts';

/** One request of a device and its answer, as a third party saw them. */
export interface ObservedExchange {
  /** Index of the device among those that are watched. */
  readonly device: number;
  /** Id of the contract's operation, or `download-artifact` for the source of a deployment. */
  readonly operation: string;
  readonly method: string;
  /** The absolute URL of the request. */
  readonly url: string;
  /** The headers of the request as they were sent. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Milliseconds since the Unix epoch: the request begins, the answer is whole. */
  readonly sentMs: number;
  readonly endedMs: number;
  /** The answer; absent when none came. */
  readonly answer?: ObservedAnswer | undefined;
}

/** The answer to an observed request. */
interface ObservedAnswer {
  readonly status: number;
  /** The headers of the answer, with names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body of the answer; absent for files and for bodies over the size limit, which are not kept. */
  readonly body?: Buffer | undefined;
}

/** One requirement that an exchange has decided. */
export interface WatchVerdict {
  readonly requirement: RequirementId;
  /** Present when the requirement is violated: what was expected and seen, without secrets. */
  readonly breach?: () => WatchEvidence;
}

/** What shows that a requirement is violated. */
export interface WatchEvidence {
  readonly expected: string;
  readonly seen: string;
  /** Method and whole URL in `line`; long bodies are cut. */
  readonly request: { readonly line: string; readonly headers: Headers; readonly body?: string };
  readonly answer?: { readonly status: number; readonly headers: Headers; readonly body?: string };
}

/** Every rule of the watch. */
export const watchRules: readonly PassiveRule[] = [
  ...tokenRules,
  ...deploymentRules,
  ...answerRules,
];

/** What the watch can decide, with the sentence of each requirement. */
export const watchedRequirements = [
  ...new Set(watchRules.flatMap(({ requirement }) => requirement ?? [])),
].map((requirement) => ({ requirement, sentence: requirements[requirement].sentence }));

/** Judges the exchanges of many devices; its memory of each device is bounded. */
export class Watch {
  readonly #names: VendorNames;
  readonly #run = new RunMemory();
  readonly #devices = new Map<number, DeviceMemory>();

  /** @param headerPrefix the vendor's part of header names, such as `X-SVC` */
  constructor(headerPrefix: string) {
    this.#names = vendorNames(headerPrefix);
  }

  /** What the exchange decides; to be called in the order in which exchanges end. */
  see(observed: ObservedExchange): readonly WatchVerdict[] {
    const row = watchedRows.get(observed.operation);
    if (row === undefined) return [];
    const device = this.#memoryOf(observed.device);
    const { answer } = observed;
    // What the target admin of a test server made it do is no doing of the server's.
    const isPlanned = answer?.headers[this.#names.testbed.fault.toLowerCase()] !== undefined;
    if (answer === undefined || isPlanned) {
      device.learnSilence(row.id, observed.url);
      return [];
    }
    const exchange = judgedExchange(row, { ...observed, answer }, this.#names);
    const verdicts = this.#verdictsOn(exchange, { run: this.#run, device });
    device.learn(exchange);
    return verdicts;
  }

  #verdictsOn(exchange: JudgedExchange, memory: Memory): readonly WatchVerdict[] {
    const verdicts = new Map<RequirementId, WatchVerdict>();
    for (const { rule, violation } of verdictsOn(watchRules, exchange, memory)) {
      const requirement = violation?.requirement ?? rule.requirement;
      // Several rules may be about one requirement: it is kept when none of them is violated.
      if (requirement === undefined || verdicts.get(requirement)?.breach) continue;
      const shows = rule.about?.(exchange, memory) ?? exchange;
      const breach = violation && (() => evidenceOf(violation, shows));
      verdicts.set(requirement, { requirement, ...(breach && { breach }) });
    }
    return [...verdicts.values()];
  }

  #memoryOf(index: number): DeviceMemory {
    const known = this.#devices.get(index);
    if (known) return known;
    const memory = new DeviceMemory();
    this.#devices.set(index, memory);
    return memory;
  }
}

/** What a rule may be about. */
const watchedRows = new Map<string, Operation>(
  Object.entries({ ...operations, ...storageOperations }),
);

function judgedExchange(
  row: Operation,
  { answer, body, ...request }: ObservedExchange & { readonly answer: ObservedAnswer },
  { requestId }: VendorNames,
): JudgedExchange {
  const bytes = answer.body ?? Buffer.alloc(0);
  const headers = Object.entries(answer.headers).map(([name, value = '']) => [name, String(value)]);
  return new JudgedExchange(
    row,
    { ...request, body, bodyBytes: Buffer.byteLength(body ?? ''), isChunked: false },
    {
      answer: {
        status: answer.status,
        headers: Object.fromEntries(headers),
        bytes,
        text: bytes.toString('utf8'),
      },
      requestIdHeader: requestId,
      isWhole: answer.body !== undefined,
    },
  );
}

function evidenceOf(
  { where, must, seen }: NamedViolation,
  { row, request: { url, headers, body, sentMs, endedMs }, answer }: JudgedExchange,
): WatchEvidence {
  const { request, answer: recorded } = reportedExchange(
    exchangeOf({ method: row.method, url, headers: withoutSignature(headers), body }, answer, {
      startMs: 0,
      elapsedMs: endedMs - sentMs,
    }),
  );
  const { line, headers: sent, body: sentBody } = request;
  return maskFor(row, answer).value({
    expected: `${where} to ${must}`,
    seen,
    request: { line, headers: sent, ...(sentBody !== undefined && { body: sentBody }) },
    ...(recorded && { answer: recorded }),
  });
}

/** A granted token that is no JWT is known by being granted only, and may be shown in part. */
function maskFor({ id }: Operation, { status, text }: Answer): Mask {
  const mask = new Mask();
  if (id !== 'post-auth-request' || status !== 200) return mask;
  const token = text.trim().replaceAll('"', '');
  for (const length of shownLengths) mask.learn(token.slice(0, length), 'device-token');
  return mask;
}

/** Where texts are cut, with a quote before them or without. */
const shownLengths = [Number.POSITIVE_INFINITY, 4096, 4095, 300, 299];

/** With it and the body anybody could sign in as the device. */
function withoutSignature(headers: Headers): Headers {
  const entries = Object.entries(headers).map(([name, value]) => [
    name.toLowerCase(),
    /-signature$/i.test(name) ? MASKED : value,
  ]);
  return Object.fromEntries(entries);
}
