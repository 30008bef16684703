/** How the devices of a cohort deal with the server: when they ask, how long they wait after a fault. */
import * as v from 'valibot';
import { milliseconds, oneOf, share, wholeNumber, yesOrNo } from './plan-values.ts';

export const backOffKinds = ['fixed', 'exponential', 'equal-jitter', 'full-jitter'] as const;
export type BackOffKind = (typeof backOffKinds)[number];
export const phases = ['even', 'random', 'lockstep'] as const;
export const downloads = ['full', 'head', 'none'] as const;
const BYTES_PER_SECOND_MAX = 10_000_000_000;

/** The waits after faults; what is absent is as in `backOffOf`. */
export const backOffFields = v.strictObject(
  {
    kind: v.optional(oneOf(backOffKinds)),
    leastMs: v.optional(milliseconds(1)),
    mostMs: v.optional(milliseconds(1)),
    obeysRetryAfter: v.optional(yesOrNo),
  },
  'must be an object of kind, least, most and obeysRetryAfter',
);

/** The fields of a policy as a plan and its cohorts spell them. */
export const policyFields = {
  pollIntervalMs: milliseconds(10),
  /** Each poll comes up to this share of the interval late, by chance. */
  pollJitterShare: v.optional(share),
  /**
   * Where in the interval devices poll: `even`, as far from one another as can be; `random`, by
   * chance of the seed; `lockstep`, all at the same moment.
   */
  phase: v.optional(oneOf(phases)),
  inventoryIntervalMs: milliseconds(10),
  /** Hold a websocket for every device. */
  connect: yesOrNo,
  /** How much of an artifact is fetched: all of it, its headers only, or nothing. */
  download: v.optional(oneOf(downloads)),
  backOff: v.optional(backOffFields),
  /** The network that is pretended in this process; absent: the real one as it is. */
  link: v.optional(
    v.strictObject(
      {
        latencyMs: v.optional(milliseconds(0)),
        jitterMs: v.optional(milliseconds(0)),
        lossShare: v.optional(share),
        bytesPerSecond: v.optional(wholeNumber(0, BYTES_PER_SECOND_MAX)),
      },
      'must be an object of latency, jitter, loss and bytesPerSecond',
    ),
  ),
};

const policyShape = v.strictObject(policyFields);
type PolicyFields = v.InferInput<typeof policyShape>;

/** What a network does to what passes through it. */
export interface LinkShape {
  /** From device to server, and the same again on the way back. */
  readonly latencyMs: number;
  /** What chance adds to or takes from each latency at most. */
  readonly jitterMs: number;
  /** Share of the exchanges that are lost: 0 to 1. */
  readonly lossShare: number;
  /** Of bodies, both ways; 0 means as fast as they come. */
  readonly bytesPerSecond: number;
}

/** How a device deals with the server, with nothing left open. */
export interface Policy {
  readonly pollIntervalMs: number;
  readonly pollJitterShare: number;
  readonly phase: (typeof phases)[number];
  readonly inventoryIntervalMs: number;
  readonly connect: boolean;
  readonly download: (typeof downloads)[number];
  readonly backOff: {
    readonly kind: BackOffKind;
    readonly leastMs: number;
    readonly mostMs: number;
    /** Whether a wait that the server asks for is kept. */
    readonly obeysRetryAfter: boolean;
  };
  readonly link?: LinkShape;
}

const BACK_OFF_LEAST_MS = 500;
const BACK_OFF_MOST_MS = 60_000;

/** The policy that these fields come to. */
export function policyOf(fields: PolicyFields): Policy {
  const { pollIntervalMs, inventoryIntervalMs, connect, link } = fields;
  return {
    pollIntervalMs,
    pollJitterShare: fields.pollJitterShare ?? 0,
    phase: fields.phase ?? 'even',
    inventoryIntervalMs,
    connect,
    download: fields.download ?? 'full',
    backOff: backOffOf(fields),
    ...(link && { link: linkOf(link) }),
  };
}

/** A wait that begins above the poll interval would make a fault rarer than a poll. */
function backOffOf({ backOff = {}, pollIntervalMs }: PolicyFields): Policy['backOff'] {
  const leastMs = backOff.leastMs ?? Math.min(BACK_OFF_LEAST_MS, pollIntervalMs);
  const mostMs = backOff.mostMs ?? Math.max(BACK_OFF_MOST_MS, pollIntervalMs, leastMs);
  const { kind = 'equal-jitter', obeysRetryAfter = true } = backOff;
  return { kind, leastMs, mostMs, obeysRetryAfter };
}

function linkOf(link: NonNullable<PolicyFields['link']>): LinkShape {
  const { latencyMs = 0, jitterMs = 0, lossShare = 0, bytesPerSecond = 0 } = link;
  return { latencyMs, jitterMs, lossShare, bytesPerSecond };
}
