/**
 * Judges a server by what passes between it and devices that are not the suite's own: it only looks
 * on, sends nothing, and says what is decided without doubt.
 */
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import { type VendorNames, vendorNames } from '../../fixtures/contract/vendor-names.ts';
import { RunMemory } from '../invariants/run-memory.ts';
import { exchangeOf, type Headers, reportedExchange } from '../target/exchange.ts';
import { ExpectationFailure, NotObservable } from '../target/expectations.ts';
import { MASKED, Mask } from '../target/mask.ts';
import { answerRules } from './answer-rules.ts';
import { deploymentRules } from './deployment-rules.ts';
import { DeviceMemory, type ObservedExchange, Seen, watchedOperation } from './observed.ts';
import type { WatchRule } from './rule.ts';
import { tokenRules } from './token-rules.ts';

export type { ObservedExchange } from './observed.ts';

/** One requirement that an exchange has decided. */
export interface WatchVerdict {
  readonly requirement: RequirementId;
  /** There when it is broken: what was expected and seen, without secrets. */
  readonly breach?: () => WatchEvidence;
}

/** What shows that a requirement is broken. */
interface WatchEvidence {
  readonly expected: string;
  readonly seen: string;
  /** Method and whole URL in `line`; long bodies are cut. */
  readonly request: { readonly line: string; readonly headers: Headers; readonly body?: string };
  readonly answer?: { readonly status: number; readonly headers: Headers; readonly body?: string };
}

/** Every rule of the watch. */
export const watchRules: readonly WatchRule[] = [...tokenRules, ...deploymentRules, ...answerRules];

/** What the watch can decide, with the sentence of each requirement. */
export const watchedRequirements = [
  ...new Set(watchRules.map(({ requirement }) => requirement)),
].map((requirement) => ({ requirement, sentence: requirements[requirement].sentence }));

/** Looks on at the exchanges of many devices; what it remembers of each is bounded. */
export class Watch {
  readonly #names: VendorNames;
  readonly #memory = new RunMemory();
  readonly #devices = new Map<number, DeviceMemory>();
  readonly #rules = new Map<string, WatchRule[]>();

  /** @param headerPrefix the vendor's part of header names, such as `X-SVC` */
  constructor(headerPrefix: string) {
    this.#names = vendorNames(headerPrefix);
    for (const rule of watchRules) {
      for (const operation of rule.operations) {
        const known = this.#rules.get(operation);
        if (known) known.push(rule);
        else this.#rules.set(operation, [rule]);
      }
    }
  }

  /** What the exchange decides; to be called in the order in which exchanges end. */
  see(exchange: ObservedExchange): readonly WatchVerdict[] {
    const operation = watchedOperation(exchange.operation);
    if (operation === undefined) return [];
    const device = this.#memoryOf(exchange.device);
    const { answer } = exchange;
    // What the target admin of a test server made it do is no doing of the server's.
    const isPlanned = answer?.headers[this.#names.testbed.fault.toLowerCase()] !== undefined;
    if (answer === undefined || isPlanned) {
      const [id = ''] = /(?<![^/])[^/]+(?=\/status$)/.exec(new URL(exchange.url).pathname) ?? [];
      device.learnSilence(exchange.operation, decodeURIComponent(id));
      return [];
    }
    const seen = new Seen({ ...exchange, answer }, operation, {
      names: this.#names,
      device,
      memory: this.#memory,
    });
    const verdicts = this.#verdictsOn(seen);
    device.learn(seen);
    return verdicts;
  }

  #verdictsOn(seen: Seen): readonly WatchVerdict[] {
    const verdicts = new Map<RequirementId, WatchVerdict>();
    for (const rule of this.#rules.get(seen.operation) ?? []) {
      const verdict = rule.applies(seen) ? verdictOf(rule, seen) : undefined;
      // Several rules may be about one requirement: it is kept when none of them is broken.
      const isNews = verdict !== undefined && !verdicts.get(rule.requirement)?.breach;
      if (isNews) verdicts.set(rule.requirement, verdict);
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

function verdictOf(rule: WatchRule, seen: Seen): WatchVerdict | undefined {
  const { requirement } = rule;
  try {
    rule.expect(seen);
    return { requirement };
  } catch (error) {
    if (error instanceof NotObservable) return undefined;
    if (!(error instanceof ExpectationFailure)) throw error;
    const exchange = rule.about?.(seen) ?? seen.exchange;
    return { requirement, breach: () => evidenceOf(error, exchange) };
  }
}

function evidenceOf(
  { expected, actual: seen }: ExpectationFailure,
  exchange: ObservedExchange,
): WatchEvidence {
  const { method, url, headers, body, answer, sentMs, endedMs } = exchange;
  const received = answer && {
    status: answer.status,
    headers: joined(answer.headers),
    bytes: answer.body ?? notKept,
  };
  const { request, answer: recorded } = reportedExchange(
    exchangeOf(
      { method, url, headers: withoutSignature(headers), body },
      received ?? new Error('no answer'),
      { startMs: 0, elapsedMs: endedMs - sentMs },
    ),
  );
  const { line, headers: sent, body: sentBody } = request;
  return maskFor(exchange).value({
    expected,
    seen,
    request: { line, headers: sent, ...(sentBody !== undefined && { body: sentBody }) },
    ...(recorded && { answer: recorded }),
  });
}

/** Bytes of an answer that nobody kept. */
const notKept = Buffer.alloc(0);

/** A granted token that is no JWT is known by being granted only, and may be shown in part. */
function maskFor({ operation, answer }: ObservedExchange): Mask {
  const mask = new Mask();
  if (operation !== 'post-auth-request' || answer?.status !== 200) return mask;
  const token = answer.body?.toString('utf8').trim().replaceAll('"', '') ?? '';
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

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const entries = Object.entries(headers).map(([name, value = '']) => [name, String(value)]);
  return Object.fromEntries(entries);
}
