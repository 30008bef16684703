/**
 * The outcome of a run: one verdict and the findings that decide it. Headline, text report, HTML,
 * JUnit and exit code all render this outcome, so that they cannot disagree.
 */
import { countText } from '../../fixtures/base/count-text.ts';
import {
  contactFindings,
  hasAnyResponse,
  isAnyAccepted,
  pollFindings,
} from './contact-findings.ts';
import { type FindingState, type RunFinding, states } from './finding.ts';
import type { FleetResult } from './result.ts';
import type { FirstViolation } from './result-checks.ts';
import { noUser } from './result-devices.ts';

/** The verdict on a run. */
export type RunVerdict = Exclude<FindingState, 'not judged'> | 'interrupted';

/** The outcome of a run. */
export interface RunOutcome {
  readonly verdict: RunVerdict;
  /** Summary such as `1,000 devices: FAILED, 1 of 4 thresholds missed`. */
  readonly headline: string;
  /** The findings about all conditions, in the order of reports. */
  readonly findings: readonly RunFinding[];
}

/** Returns the outcome of a result, which may be merged from several processes. */
export function outcomeOf(result: FleetResult): RunOutcome {
  const findings = [
    ...reconciliationFindings(result),
    ...contactFindings(result),
    ...pollFindings(result),
    ...generatorFindings(result),
    ...shardFindings(result),
    ...deploymentFindings(result),
    ...thresholdFindings(result),
    ...requirementFindings(result),
    ...invariantFindings(result),
  ];
  const verdict = verdictOf(result, findings);
  const decisive = findings.filter(({ state }) => state !== 'passed' && state !== 'not judged');
  // The headline of a passed run lists the conditions that hold.
  const namedFindings = decisive.length > 0 ? sortByState(decisive) : findings;
  const briefs = [...new Set(namedFindings.flatMap(({ brief }) => brief ?? []))];
  const texts = [...briefs, ...unmeasuredTexts(result)];
  const devices = countText(result.funnel.devices, 'device');
  const headline = [`${devices}: ${verdict.toUpperCase()}`, ...texts].join(', ');
  return { verdict, headline, findings };
}

function verdictOf({ ended }: FleetResult, findings: readonly RunFinding[]): RunVerdict {
  if (ended === 'interrupted') return 'interrupted';
  const [worst] = sortByState(findings.filter(({ state }) => state !== 'not judged'));
  return worst === undefined || worst.state === 'not judged' ? 'inconclusive' : worst.state;
}

/** Sorts findings, the worst state first. */
function sortByState(findings: readonly RunFinding[]): readonly RunFinding[] {
  const rank = ({ state }: RunFinding): number => states.indexOf(state);
  return findings.toSorted((one, other) => rank(one) - rank(other));
}

function reconciliationFindings({ reconciliation, funnel }: FleetResult): readonly RunFinding[] {
  const condition = 'reconciliation: server and fleet agree on every device';
  const { checked, ok, reason = 'no reason is known', deploymentsChecked } = reconciliation;
  if (!checked) {
    const sentence = `Nothing was reconciled: ${reason}.`;
    // Without a user, no reconciliation is expected.
    if (reason === noUser) return [{ condition, state: 'not judged', sentence }];
    return [{ condition, state: 'inconclusive', sentence, brief: 'reconciliation not possible' }];
  }
  if (!ok) {
    const differences = countText(differencesIn(reconciliation), 'difference');
    const rows = differenceTexts(reconciliation).join('; ');
    const sentence = `Reconciliation found ${differences} between devices and server: ${rows}`;
    const brief = `reconciliation found ${differences}`;
    return [{ condition, state: 'failed', sentence, brief }];
  }
  if (deploymentsChecked === 0) {
    const sentence = 'There was nothing to reconcile: no deployment was created.';
    return [{ condition, state: 'not judged', sentence }];
  }
  const sentence = `Server and fleet agree on ${countText(funnel.devices, 'device')}.`;
  return [{ condition, state: 'passed', sentence, brief: 'reconciliation agrees' }];
}

function differenceTexts({ differences, statistics }: FleetResult['reconciliation']): string[] {
  return [
    ...differences.map(
      ({ deviceIndex, fleetStatus, serverStatus }) =>
        `device ${deviceIndex}: device reports ${fleetStatus}, server lists ${serverStatus}`,
    ),
    ...statistics.map(
      ({ status, inList, inStatistics }) =>
        `${status}: the server lists ${inList} and counts ${inStatistics}`,
    ),
  ];
}

/** Returns the number of differences between the fleet and the server, in devices and in totals. */
export function differencesIn({ differences, statistics }: FleetResult['reconciliation']): number {
  return differences.length + statistics.length;
}

function generatorFindings({ validity, generator }: FleetResult): readonly RunFinding[] {
  const condition = 'the load generator is not the limit';
  if (validity === 'valid') {
    return [{ condition, state: 'passed', sentence: 'The load generator was not the limit.' }];
  }
  if (validity === 'not-judged') {
    const { due } = generator.schedule;
    const sentence = `The load generator was not judged: only ${countText(due, 'poll')} were due.`;
    return [{ condition, state: 'not judged', sentence }];
  }
  const sentence = `The load generator was the limit: ${generator.reasons.join('; ')}`;
  return [{ condition, state: 'invalid', sentence, brief: 'limited by the load generator' }];
}

/** Returns the finding about lost shards, whose devices have an unknown outcome. */
function shardFindings({ spread }: FleetResult): readonly RunFinding[] {
  if (spread === undefined) return [];
  const condition = 'every shard completes';
  const { lost } = spread;
  if (lost.length === 0) return [{ condition, state: 'passed', sentence: 'No shard was lost.' }];
  const rows = lost.map(({ shard, reason }) => `shard ${shard} was lost (${reason})`).join('; ');
  const brief = `${countText(lost.length, 'shard')} lost`;
  return [
    { condition, state: 'incomplete', sentence: `Part of the fleet is unknown: ${rows}`, brief },
  ];
}

/** Returns a note about measurements that lost workers took but could not send. */
function unmeasuredTexts(result: FleetResult): string[] {
  const share = missingShardShare(result);
  return share > 0 ? [`${(100 * share).toFixed(1)}% of the run was not measured`] : [];
}

/** Returns the share of the total device time that the figures do not include, from 0 to 1. */
export function missingShardShare({ spread, plan, durationMs }: FleetResult): number {
  return (spread?.missingDeviceMs ?? 0) / (plan.devices * durationMs || 1);
}

/** Ends that come before the end that `--until` requests. */
const endsBeforeSettled: ReadonlySet<string> = new Set(['duration', 'stages', 'iterations']);

/**
 * Returns the findings about the deployment. A run whose deployment updated no device is
 * inconclusive, even if all other conditions hold.
 */
function deploymentFindings(result: FleetResult): readonly RunFinding[] {
  const { plan, funnel, ended } = result;
  if (ended === 'interrupted' || !hasAnyResponse(result) || !isAnyAccepted(result)) return [];
  const findings: RunFinding[] = [];
  const isAbortPlanned = plan.incidents?.some(({ name }) => name === 'abort-deployment') === true;
  if (plan.deploy !== undefined && !isAbortPlanned) {
    const condition = 'the deployment updates devices';
    const updatedCount = funnel.success + funnel.alreadyInstalled;
    if (updatedCount > 0) {
      const sentence = `${countText(updatedCount, 'device')} updated to ${plan.deploy}.`;
      findings.push({ condition, state: 'passed', sentence });
    } else {
      const sentence = `No device was updated to ${plan.deploy}: ${whyNot(result)}`;
      findings.push({ condition, state: 'inconclusive', sentence, brief: 'no device was updated' });
    }
  }
  if (plan.until === 'settled' && endsBeforeSettled.has(ended)) {
    const condition = 'every device finishes a deployment';
    const sentence = 'The run was over before every device had finished a deployment.';
    findings.push({ condition, state: 'inconclusive', sentence, brief: 'not settled in time' });
  }
  return findings;
}

function whyNot({ funnel, reconciliation, plan }: FleetResult): string {
  const { withoutArtifact } = reconciliation;
  if (withoutArtifact > 0) {
    return (
      `no artifact of that name fits ${countText(withoutArtifact, 'device')}; check its device ` +
      `types (the fleet's is ${plan.deviceType}) and its dependencies.`
    );
  }
  if (funnel.offered === 0) return 'none was offered it; let it run longer.';
  const { offered, failure, aborted, updating } = funnel;
  return (
    `of ${countText(offered, 'device')} that were offered it, ${failure} failed, ${aborted} were ` +
    `aborted and ${updating} are updating; see the errors by cause.`
  );
}

/**
 * Returns a finding for each threshold. If the figures are invalid, a missed threshold is invalid
 * instead of failed.
 */
function thresholdFindings({ thresholds, validity }: FleetResult): readonly RunFinding[] {
  const count = (wanted: string): number =>
    thresholds.filter(({ verdict }) => verdict === wanted).length;
  const all = countText(thresholds.length, 'threshold');
  const briefs = {
    met: `${all} met`,
    missed: `${count('missed')} of ${all} missed`,
    inconclusive: `${count('inconclusive')} of ${all} inconclusive`,
  };
  const missedState = validity === 'invalid' ? 'invalid' : 'failed';
  const stateOf = { met: 'passed', missed: missedState, inconclusive: 'inconclusive' } as const;
  return thresholds.map(({ threshold, verdict, observed }) => ({
    condition: `threshold: ${threshold}`,
    state: stateOf[verdict],
    sentence: `Threshold ${threshold} ${verdict}: ${observed}`,
    brief: briefs[verdict],
  }));
}

function requirementFindings({ checks }: FleetResult): readonly RunFinding[] {
  if (checks === undefined) return [];
  const { requirements } = checks;
  const violatedCount = requirements.filter((row) => row.violated > 0).length;
  const brief = `${countText(violatedCount, 'requirement')} violated`;
  const isRequirement = true;
  const rows = requirements.map((row): RunFinding => {
    const condition = `requirement ${row.requirement}: ${row.sentence}`;
    if (row.judged === 0) {
      const sentence = `No watched request tested ${row.requirement}.`;
      return { condition, state: 'not judged', sentence, isRequirement };
    }
    if (row.violated === 0) {
      const sentence = `The server met ${row.requirement} ${countText(row.judged, 'time')}.`;
      return { condition, state: 'passed', sentence, isRequirement };
    }
    const times = `${row.violated} of ${countText(row.judged, 'time')}`;
    const first = row.firstViolation && `, first at ${violationText(row.firstViolation)}`;
    const sentence = `The server violated ${row.requirement} ${times}${first ?? ''}`;
    return { condition, state: 'failed', sentence, brief, isRequirement };
  });
  if (requirements.some(({ judged }) => judged > 0)) return rows;
  const condition = 'watched requests test requirements';
  const sentence = 'No requirement was tested by the watched devices.';
  return [...rows, { condition, state: 'inconclusive', sentence, brief: 'no requirement tested' }];
}

function violationText({ requestsPerSecond, expected, actual }: FirstViolation): string {
  const rate = Math.round(requestsPerSecond * 10) / 10;
  return `${rate} requests/s: expected ${expected}, received ${actual}`;
}

function invariantFindings({ virtual }: FleetResult): readonly RunFinding[] {
  if (virtual === undefined) return [];
  const condition = 'the invariants of virtual time hold';
  const { violations } = virtual;
  if (violations.length === 0) return [{ condition, state: 'passed', sentence: 'They hold.' }];
  const brief = `${countText(violations.length, 'invariant')} violated`;
  const sentence = violations
    .map(({ invariant, message }) => `${invariant}: ${message}`)
    .join('; ');
  return [{ condition, state: 'failed', sentence, brief }];
}
