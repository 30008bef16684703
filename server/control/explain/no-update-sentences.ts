/** The rules of the next deployment in words, with the values on both sides. */
import {
  type Candidate,
  misfit,
  type NextRequest,
  requestIn,
} from '../../rules/next-deployment.ts';
import type { NoUpdateRule } from '../../rules/no-update.ts';
import { devicesByNow, type KeptBack } from '../../rules/part-choice.ts';
import type { PartWithFacts } from '../../store/part-rows.ts';

/** A device deployment, with the facts for its sentence. */
export interface Judged {
  readonly part: PartWithFacts;
  readonly nowMs: number;
  /** The data of the poll; when absent, that of the offer is used. */
  readonly request: NextRequest | undefined;
  /** The artifacts that now have the name of the release. */
  readonly candidates: readonly Candidate[];
}

/** A rule that let the device pass. */
export interface Passed {
  readonly rule: string;
  readonly sentence: string;
}

type Rule = Exclude<NoUpdateRule, 'deployment'> | KeptBack;
type Sentence = (judged: Judged) => string;

/** Why a rule withholds the update. */
export function sentenceOf(rule: Rule, judged: Judged): string {
  return refusing[rule](judged);
}

/** The rules that passed before `until`, or all of them without it, in the order of evaluation. */
export function passedBy(judged: Judged, until: NoUpdateRule | undefined): Passed[] {
  const end = passing.findIndex(({ rule }) => rule === until);
  return passing.slice(0, end < 0 ? undefined : end).flatMap(({ rule, sentence }) => {
    const told = sentence(judged);
    return told === undefined ? [] : [{ rule, sentence: told }];
  });
}

/** The name of a deployment in sentences. */
export function labelOf({ deployment: { name, id, artifactName } }: PartWithFacts): string {
  return `deployment ${name} (${id}) of ${artifactName}`;
}

const refusing: Readonly<Record<Rule, Sentence>> = {
  start: ({ part }) => `${labelOf(part)} starts at ${moment(part.deployment.createdMs)}`,
  phase: ({ part, nowMs }) => {
    const { phases = [], deviceCount } = part.deployment;
    const at = phases.findIndex(({ startMs }) => startMs > nowMs);
    const next = phases[at];
    const begins = next ? `; phase ${at + 1} starts at ${moment(next.startMs)}` : '';
    const byNow = devicesByNow(part.deployment, nowMs);
    return `the phases of ${labelOf(part)} allow ${byNow} of ${deviceCount} devices so far, and ${part.offeredDevices} have started${begins}`;
  },
  'max-devices': ({ part }) =>
    `${labelOf(part)} is limited to ${part.deployment.maxDevices} devices, and ${part.offeredDevices} have started`,
  artifact: ({ part }) => `there is no artifact with the name ${part.deployment.artifactName}`,
  'device-type': misfitText,
  depends: misfitText,
  'already-installed': ({ part }) =>
    `the device has ${part.deployment.artifactName} already installed, and ${labelOf(part)} does not force the installation`,
  finished: (judged) => finishedText(judged),
  aborted: ({ part }) => `${labelOf(part)} was aborted for the device${at(part.finishedMs)}`,
  'deployment-over': ({ part }) =>
    `${labelOf(part)} ended${at(part.deployment.finishedMs)}, before the device started it`,
  older: ({ part }) =>
    `${labelOf(part)} is older than the last one that the device finished, and is skipped`,
};

const passing: readonly {
  readonly rule: NoUpdateRule;
  readonly sentence: (judged: Judged) => string | undefined;
}[] = [
  { rule: 'deployment', sentence: ({ part }) => `${labelOf(part)} includes the device` },
  {
    rule: 'start',
    sentence: ({ part }) =>
      part.offeredMs === undefined
        ? `it started at ${moment(part.deployment.createdMs)}`
        : `it was offered to the device at ${moment(part.offeredMs)}`,
  },
  {
    rule: 'phase',
    sentence: ({ part }) =>
      part.deployment.phases ? 'its phases allow the device to start' : undefined,
  },
  {
    rule: 'max-devices',
    sentence: ({ part: { deployment } }) =>
      deployment.maxDevices === undefined
        ? undefined
        : `it is limited to ${deployment.maxDevices} devices, and the limit is not reached`,
  },
  {
    rule: 'artifact',
    sentence: ({ part: { deployment }, candidates }) =>
      candidates.length === 0
        ? undefined
        : `artifacts of ${deployment.artifactName}: ${candidates.length}`,
  },
  {
    rule: 'device-type',
    sentence: ({ candidates, request }) =>
      request && candidates.length > 0
        ? `one is compatible with device type ${request.deviceType}`
        : undefined,
  },
  {
    rule: 'depends',
    sentence: ({ candidates, request }) =>
      request && candidates.length > 0 ? 'the device meets its dependencies' : undefined,
  },
  {
    rule: 'already-installed',
    sentence: ({ request }) => request && `the device has ${request.artifactName} installed`,
  },
];

function finishedText(judged: Judged): string {
  const { part } = judged;
  const label = labelOf(part);
  const end = at(part.finishedMs);
  if (part.status === 'noartifact')
    return `${label} ended for the device${end}: ${misfitText(judged)}`;
  if (part.status === 'already-installed') {
    return `${label} ended for the device${end}: ${part.deployment.artifactName} was already installed`;
  }
  return `the device finished ${label} with ${part.status}${end}`;
}

function misfitText({ part, request, candidates }: Judged): string {
  const { artifactName } = part.deployment;
  const said = part.request === undefined ? request : requestIn(part.request);
  if (!said) return `no artifact with the name ${artifactName} fits the device`;
  const found = misfit(candidates, said);
  if (found.rule === 'artifact') return `there is no artifact with the name ${artifactName}`;
  const accepted = found.accepted.join(', ');
  if (found.rule === 'device-type') {
    return `no artifact with the name ${artifactName} fits device type ${found.given}; compatible types: ${accepted}`;
  }
  const given = found.given === undefined ? 'does not report it' : `reports ${found.given}`;
  return `${artifactName} depends on ${found.name} being one of: ${accepted}; the device ${given}`;
}

function at(ms: number | undefined): string {
  return ms === undefined ? '' : ` at ${moment(ms)}`;
}

function moment(ms: number): string {
  return new Date(ms).toISOString();
}
