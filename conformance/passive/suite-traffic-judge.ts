/**
 * Judges a server by its exchanges with the suite: checks those of a run against the passive checks,
 * and collects the violations by case.
 */
import { type OperationId, operations } from '../../fixtures/contract/operations.ts';
import { type RequirementId, requirements } from '../../fixtures/contract/requirements/index.ts';
import type { RequirementLevel } from '../../fixtures/contract/requirements/requirement.ts';
import type { VendorNames } from '../../fixtures/contract/vendor-names.ts';
import { joinedChunks, reportedExchange, type TargetExchange } from '../target/exchange.ts';
import { recognizeRequest } from '../target/operation-at.ts';
import type { CompletedExchange, WireRequest } from '../target/target.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import { passiveChecks } from './catalogue.ts';
import {
  type CheckVerdict,
  type ExchangeHistory,
  type NamedViolation,
  verdictsOn,
} from './check.ts';
import { missingResponseOf } from './checks/statuses.ts';
import { DeviceHistory } from './device-history.ts';
import { JudgedExchange, type JudgedRequest } from './judged-exchange.ts';
import { RunHistory } from './run-history.ts';
import type { AllowanceId, Allows } from './trackers/allowances.ts';
import { CaseTrackers, type TrackingOptions } from './trackers/case-trackers.ts';
import { ReadBackCounter, type ReadBackCounts } from './trackers/read-back-counter.ts';
import type { Tracker } from './trackers/tracker.ts';

/** The placeholder for the response to a request that got none. */
const noResponse = { status: 0, headers: {}, bytes: Buffer.alloc(0), text: '' } as const;

/**
 * Maximum number of violations kept for each case, since a broken server repeats its violations.
 */
const VIOLATIONS_MAX = 10;

/** A violation of a passive check by an exchange. */
export interface ExchangeViolation {
  /** The requirement of the passive check, and one of the operation if it is violated too. */
  readonly requirements: readonly [RequirementId, ...RequirementId[]];
  readonly level: RequirementLevel;
  /** The ID of the operation. */
  readonly operation: string;
  /** The violation, such as `200 body: /timezone must be a string, not the number 7`. */
  readonly text: string;
  /** The exchange that shows the violation. */
  readonly exchange: TargetExchange;
}

/**
 * The number of an operation's exchanges that a requirement judged, and of those that violated it.
 */
export interface JudgementCount {
  judged: number;
  violated: number;
}

/** The counts of a run: by requirement, then by operation. */
export type JudgementCounts = ReadonlyMap<
  RequirementId,
  ReadonlyMap<string, Readonly<JudgementCount>>
>;

/** The facts about its target that a judge needs. */
export interface JudgeOptions {
  /** The operations that the target has, by default all; exchanges with others are not judged. */
  readonly offered?: ReadonlySet<OperationId>;
  /** False if a device does not read the configuration that it wrote. */
  readonly readsBack?: boolean;
  /**
   * False if users act by other means than the management API, so that the judge does not see it.
   */
  readonly seesUsers?: boolean;
  /** An allowance that the trackers do without, as the suite's own tests need. */
  readonly without?: AllowanceId | undefined;
}

/** Judges a server by the exchanges of one run. */
export class SuiteTrafficJudge {
  readonly #names: VendorNames;
  readonly #base: string;
  readonly #offered: ReadonlySet<OperationId>;
  readonly #tracking: TrackingOptions;
  readonly #allows: Allows;
  readonly #readBackCounter = new ReadBackCounter();
  readonly #history: ExchangeHistory = { run: new RunHistory(), device: new DeviceHistory() };
  readonly #judgementCounts = new Map<RequirementId, Map<string, JudgementCount>>();

  /**
   * @param baseUrl the base URL of the target, without a trailing slash
   */
  constructor(
    baseUrl: string,
    names: VendorNames,
    {
      offered = new Set(Object.keys(operations) as OperationId[]),
      readsBack = true,
      seesUsers = true,
      without,
    }: JudgeOptions = {},
  ) {
    this.#offered = offered;
    this.#tracking = { readsBack, seesUsers };
    this.#allows = (id) => id !== without;
    this.#base = new URL(baseUrl).href.replace(/\/$/, '');
    this.#names = names;
  }

  /** The counts of all exchanges judged so far. */
  get judgementCounts(): JudgementCounts {
    return this.#judgementCounts;
  }

  /** The responses that showed what a case had written, by operation. */
  get readBacks(): readonly ReadBackCounts[] {
    return this.#readBackCounter.rows;
  }

  /**
   * Returns a judge for the exchanges of one case.
   * @param plansFaults true if the case makes the server fail on purpose, so that a 5xx is allowed
   */
  forCase(plansFaults = false): CaseJudge {
    const trackers = new CaseTrackers(this.#tracking, this.#readBackCounter, this.#allows);
    return new CaseJudge((observed) => this.#judge(observed, { plansFaults, trackers }));
  }

  #judge(
    observed: CompletedExchange,
    { plansFaults, trackers }: { plansFaults: boolean; trackers: Tracker },
  ): readonly ExchangeViolation[] {
    const { request, url, outcome, record } = observed;
    const row = this.#rowOf(request, url);
    if (row === undefined) return [];
    const hasResponse = !(outcome instanceof Error);
    const exchange = new JudgedExchange(row, judgedRequest(observed), {
      response: hasResponse ? outcome : noResponse,
      requestIdHeader: this.#names.requestId,
    });
    const isInjected =
      exchange.response.headers[this.#names.testbed.fault.toLowerCase()] !== undefined;
    if (!hasResponse || isInjected) trackers.recordNoResponse(exchange);
    if (!hasResponse) return hang(row.id, outcome, record);
    // An injected fault of a test server is not a violation by the server.
    if (isInjected) return [];
    const checks = plansFaults
      ? passiveChecks.filter(({ id }) => id !== 'no-fault')
      : passiveChecks;
    const ownViolations = verdictsOn(checks, exchange, this.#history).flatMap((verdict) => {
      this.#count(verdict, row.id);
      const { violation } = verdict;
      return violation ? [violationOf(violation, row.id, record)] : [];
    });
    const tracked = trackers
      .judge(exchange)
      .map(({ operation = row.id, ...violation }) => violationOf(violation, operation, record));
    return [...ownViolations, ...tracked];
  }

  #count({ check, violation }: CheckVerdict, operation: string): void {
    const requirement = violation?.requirement ?? check.requirement;
    if (requirement === undefined) return;
    const byOperation = this.#judgementCounts.get(requirement) ?? new Map<string, JudgementCount>();
    const count = byOperation.get(operation) ?? { judged: 0, violated: 0 };
    count.judged += 1;
    if (violation) count.violated += 1;
    byOperation.set(operation, count);
    this.#judgementCounts.set(requirement, byOperation);
  }

  #rowOf({ method }: WireRequest, url: string) {
    if (!URL.canParse(url)) return undefined;
    const { href } = new URL(url);
    if (!href.startsWith(`${this.#base}/`)) return undefined;
    const { row } = recognizeRequest(method, href.slice(this.#base.length).replace(/[?#].*$/s, ''));
    const isMissing = row !== undefined && Object.hasOwn(operations, row.id) && !this.#has(row.id);
    return isMissing ? undefined : row;
  }

  #has(id: string): boolean {
    return this.#offered.has(id as OperationId);
  }
}

/** Collects the violations in the exchanges of one case. */
export class CaseJudge {
  readonly #judge: (observed: CompletedExchange) => readonly ExchangeViolation[];
  readonly #violations = new Map<string, ExchangeViolation>();

  constructor(judge: (observed: CompletedExchange) => readonly ExchangeViolation[]) {
    this.#judge = judge;
  }

  /** Judges an exchange. Call it with each exchange of the case, when the exchange ends. */
  readonly judge = (observed: CompletedExchange): void => {
    for (const violation of this.#judge(observed)) {
      const key = `${violation.operation} ${violation.requirements.join()}`;
      const isFirst = !this.#violations.has(key) && this.#violations.size < VIOLATIONS_MAX;
      if (isFirst) this.#violations.set(key, violation);
    }
  };

  /** The first violation of each requirement by each operation. */
  get violations(): readonly ExchangeViolation[] {
    return [...this.#violations.values()];
  }
}

/**
 * Returns true if the violation is a missing response. Only observing cases report it as a
 * violation.
 */
export function isMissingResponse({ exchange }: ExchangeViolation): boolean {
  return exchange.response === undefined;
}

function hang(id: string, failure: Error, record: TargetExchange): readonly ExchangeViolation[] {
  const isHanging = failure instanceof TransportFailure && failure.code === 'request-time-limit';
  if (!isHanging || !Object.hasOwn(operations, id)) return [];
  return [violationOf(missingResponseOf(id as OperationId, failure.message), id, record)];
}

function violationOf(
  { part, expected, actual, requirement, alsoViolated }: NamedViolation,
  operation: string,
  record: TargetExchange,
): ExchangeViolation {
  return {
    requirements: alsoViolated === undefined ? [requirement] : [requirement, alsoViolated],
    level: requirements[requirement].level,
    operation,
    text: `${part} must ${expected}, not ${actual}`,
    exchange: reportedExchange(record),
  };
}

function judgedRequest({ request, url, record, exactly }: CompletedExchange): JudgedRequest {
  const { headers = {}, body, form } = request;
  const { startMs, elapsedMs } = exactly ?? record;
  const isChunked = Array.isArray(body);
  const bytes = isChunked ? joinedChunks(body) : (body as string | Buffer | undefined);
  const bodyBytes = form ? form.file.bytes.length : Buffer.byteLength(bytes ?? '');
  const times = { sentMs: startMs, endedMs: startMs + elapsedMs };
  return { url, headers, body: bytes, bodyBytes, isChunked, ...times };
}
