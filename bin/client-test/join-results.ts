/** Joins the verdicts of all scenes to the result of a client test. */
import { duties } from '../../conformance/client-judge/duties/duties.ts';
import type { Duty } from '../../conformance/client-judge/duty.ts';
import {
  type ClientCapability,
  type ClientTestResult,
  clientTestVersion,
  type SceneResult,
  type SessionStep,
  type TestedDuty,
} from '../../conformance/client-judge/report/client-test-result.ts';
import { nextStep } from '../../conformance/client-judge/scene-names.ts';
import { countText } from '../../fixtures/base/count-text.ts';
import { byLevel, type DutyState } from '../../fixtures/control/clients.ts';
import { applyWaivers } from './apply-waivers.ts';
import type { ClientTestOptions } from './client-test-options.ts';
import type { SceneEnd } from './run-scene.ts';
import { allScenes, MEASURING_SCENE, notRun } from './scenes.ts';

/** A scene that was run, with its steps in order. */
export interface EndedScene extends SceneEnd {
  readonly scene: string;
  readonly durationMs: number;
  readonly session: readonly SessionStep[];
}

/**
 * The parts of a client test's result: options, facts about the client, and the scenes that were
 * run or skipped.
 */
interface Joining {
  readonly options: ClientTestOptions;
  readonly capabilities: readonly ClientCapability[];
  readonly cutBy: ClientTestResult['cutBy'];
  readonly intervalMs?: number;
  readonly ended: readonly EndedScene[];
  readonly skipped: readonly SceneResult[];
  readonly signal: AbortSignal;
  /** The current day in ISO 8601 and UTC. */
  readonly today: string;
}

/** Returns the result of a client test, with the duties of the strictest level first. */
export function joinResults(joining: Joining): ClientTestResult {
  const { options, ended, skipped, capabilities, cutBy, intervalMs } = joining;
  const {
    duties: testedDuties,
    waivers,
    problems,
  } = applyWaivers(
    duties.toSorted(byLevel).map((duty) => joinedDuty(duty, joining)),
    options.waivers,
    joining.today,
  );
  const cuts = ended.flatMap(({ afterCut, scene }) =>
    afterCut && scene.startsWith('cut ') ? [afterCut] : [],
  );
  const outcome = outcomeOf(joining, { duties: testedDuties, problems });
  return {
    schema: clientTestVersion,
    outcome,
    headline: headlineOf(outcome, joining, testedDuties),
    failOn: options.failOn,
    seed: options.seed,
    ...(options.command !== undefined && { command: options.command }),
    ...(intervalMs !== undefined && { intervalMs }),
    capabilities,
    cutBy,
    scenes: [...ended.map(sceneRow), ...skipped],
    cuts,
    duties: testedDuties,
    waivers,
    problems,
  };
}

/** Returns the row of a scene; it has the steps of a scene that broke a duty or stopped. */
function sceneRow({
  scene,
  outcome,
  reason,
  durationMs,
  verdict,
  session,
}: EndedScene): SceneResult {
  const isBroken = verdict?.duties.some(({ state }) => state === 'broken') ?? false;
  const isExplained = isBroken || outcome === 'stopped';
  return {
    scene,
    outcome,
    durationMs,
    ...(reason !== undefined && { reason }),
    ...(isExplained && { session: session.slice(0, SESSION_MAX_STEPS) }),
  };
}

/** Steps of a session in a result; the folder of the client has all of them. */
const SESSION_MAX_STEPS = 200;

function outcomeOf(
  { ended, signal, options }: Joining,
  { duties: testedDuties, problems }: Pick<ClientTestResult, 'duties' | 'problems'>,
): ClientTestResult['outcome'] {
  if (signal.aborted) return 'interrupted';
  if (ended.every(({ outcome }) => outcome === 'no-request')) return 'no-request';
  const isBroken = testedDuties.some((duty) => fails(duty, options.failOn));
  if (
    isBroken ||
    problems.length > 0 ||
    ended.some(({ afterCut }) => afterCut?.reportedFalseSuccess)
  )
    return 'broken';
  const isCompleted = ended.every(({ outcome }) => ['completed', 'skipped'].includes(outcome));
  return isCompleted && testedDuties.some(({ state }) => state === 'met') ? 'met' : 'inconclusive';
}

/** Returns true if a broken duty fails a client test. */
function fails({ level, state, waiver }: TestedDuty, failOn: ClientTestResult['failOn']): boolean {
  const isOfLevel = level === 'must' || level === failOn;
  return state === 'broken' && isOfLevel && waiver === undefined;
}

function headlineOf(
  outcome: ClientTestResult['outcome'],
  { ended, options }: Joining,
  testedDuties: readonly TestedDuty[],
): string {
  const brokenCount = (level: TestedDuty['level']): number =>
    testedDuties.filter((duty) => duty.level === level && fails(duty, options.failOn)).length;
  const stoppedScenes = ended.filter(
    (end) => end.outcome === 'stopped' || end.outcome === 'no-request',
  );
  const [first] = stoppedScenes;
  const stopText = first ? `Scene ${first.scene}: ${first.reason ?? 'it stopped'}.` : '';
  const sentences: Readonly<Record<ClientTestResult['outcome'], string>> = {
    broken: `The client breaks ${countText(brokenCount('must'), 'MUST')} and ${countText(brokenCount('should'), 'SHOULD')}.`,
    inconclusive: `Inconclusive: ${countText(stoppedScenes.length, 'scene')} could not be run to the end. ${stopText}`,
    met: 'The client met every duty that was tested.',
    'no-request': `Nothing was judged. ${stopText}`,
    interrupted: 'Interrupted; this is the result so far.',
  };
  return sentences[outcome].trim();
}

/** States from the one that counts most. What one scene shows, no other one takes back. */
const order: readonly DutyState[] = [
  'broken',
  'met',
  'observed',
  'open',
  'not-judged',
  'not-tested',
  'not-observable',
  'not-applicable',
];

function joinedDuty(duty: (typeof duties)[number], joining: Joining): TestedDuty {
  const { id, level, sentence, source, remedy, scene } = duty;
  const rows = joining.ended.flatMap(({ scene: name, verdict, violations: exchanges }) => {
    const row = verdict?.duties.find((each) => each.duty === id);
    return row ? [{ name, row, exchanges }] : [];
  });
  const worstState =
    order.find((each) => rows.some(({ row }) => row.state === each)) ?? 'not-tested';
  const excludedBy = allScenes.find(({ name }) => name === scene)?.excludedBy;
  const isForOthers = excludedBy !== undefined && joining.capabilities.includes(excludedBy);
  const state = worstState === 'not-tested' && isForOthers ? 'not-applicable' : worstState;
  const deciding = rows.filter(({ row }) => row.state === state);
  const { observation } = deciding[0]?.row ?? {};
  const isDecided = state === 'broken' || state === 'met' || state === 'observed';
  return {
    duty: id,
    level,
    sentence,
    source,
    remedy,
    state,
    judged: rows.reduce((sum, { row }) => sum + row.judged, 0),
    scenes: isDecided ? deciding.map(({ name }) => name) : [],
    violationCount: rows.reduce((sum, { row }) => sum + row.violationCount, 0),
    violations: deciding.flatMap(({ name, row, exchanges }) =>
      row.violations.map((violation) => {
        const { journalEntry, contradicts } = violation;
        const line = exchanges.find((each) => each.sequence === journalEntry)?.line;
        return {
          ...violation,
          scene: name,
          ...(line !== undefined && { request: line }),
          exchanges: exchanges.filter((each) =>
            [journalEntry, contradicts].includes(each.sequence),
          ),
        };
      }),
    ),
    ...(observation !== undefined && { observation }),
    ...(!isDecided && { next: nextStep(scene), reason: undecidedReason(duty, state, joining) }),
  };
}

function undecidedReason(
  {
    scene = MEASURING_SCENE,
    inconclusiveReason = 'the client did not show it',
  }: Pick<Duty, 'scene' | 'inconclusiveReason'>,
  state: DutyState,
  { ended, skipped }: Joining,
): string {
  if (state === 'not-applicable') return 'the client does not use this part of the API';
  if (state === 'not-observable') return 'only the client itself could show it';
  const reasons: Readonly<Record<string, string>> = notRun;
  const end = ended.find((each) => each.scene === scene);
  const reason =
    reasons[scene] ?? skipped.find((each) => each.scene === scene)?.reason ?? end?.reason;
  if (reason !== undefined) return reason;
  return end === undefined ? 'it was not run' : `it was run, and ${inconclusiveReason}`;
}
