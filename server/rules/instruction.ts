/** Which instruction a device gets when it asks, or why none. Spec: Device deployments, GET and POST next */
import { offered, retried, settled } from './device-deployment.ts';
import {
  type Candidate,
  decideNext,
  type NextRequest,
  requestText,
  type ServablePart,
} from './next-deployment.ts';
import { type NoUpdate, noDeployment } from './no-update.ts';
import {
  type DescribedPart,
  installedFor,
  misfitFor,
  overFor,
  Waiting,
} from './no-update-sentences.ts';
import { choosePart, keptBack } from './part-choice.ts';

/** A device's part in a deployment, with all that an instruction depends on. */
export type InstructedPart = DescribedPart & ServablePart;

/** A device, and the deployments that may be its turn. */
export interface Turn<Part> {
  /** Those that may still be open, in order of creation. */
  readonly parts: readonly Part[];
  /** The newest deployment that the device was offered and finished; 0 when there is none. */
  readonly lastFinishedSeq: number;
  readonly nowMs: number;
  /** The newest of all its parts, open or not; asked only when none is open. */
  readonly newest: () => Part | undefined;
}

/** A device that asks. */
export interface Asking<Part> extends Turn<Part> {
  readonly request: NextRequest;
  /** The artifacts that exist now under the name of the part's release; asked of one part at most. */
  readonly candidatesOf: (part: Part) => readonly Candidate[];
}

/** What the device is answered; `changed` is the part as it is to be recorded, absent when it stays. */
export type Instruction<Part> =
  | {
      readonly decision: 'serve';
      readonly part: Part;
      readonly changed: Part | undefined;
      /** Absent for configurations, which bring their own. */
      readonly artifactId: string | undefined;
      readonly beginsAttempt: boolean;
    }
  /** The update is over for the device before it begins. */
  | {
      readonly decision: 'end';
      readonly part: Part;
      readonly changed: Part;
      readonly noUpdate: NoUpdate;
    }
  /** The device says other things of itself than when it was offered the update, which fails. */
  | { readonly decision: 'conflict'; readonly part: Part; readonly changed: Part }
  /** There is an update, not yet for this device. */
  | { readonly decision: 'wait'; readonly part: Part; readonly noUpdate: NoUpdate }
  /** Nothing to come until the device is given a new deployment, or a new chance. */
  | { readonly decision: 'nothing'; readonly noUpdate: NoUpdate };

/** Decides on the one part that is the device's turn. */
export function decideInstruction<Part extends InstructedPart>(
  asking: Asking<Part>,
): Instruction<Part> {
  const { request, nowMs } = asking;
  const turn = decideTurn(asking);
  if ('noUpdate' in turn) return turn;
  const { part } = turn;
  const asked = turn.decision === 'retry' ? retried(part) : part;
  const decided = decideNext(asked, request, asking.candidatesOf(part));
  if (decided.decision === 'conflict') {
    return { decision: 'conflict', part, changed: settled(asked, 'failure', nowMs) };
  }
  const artifactId = 'artifactId' in decided ? decided.artifactId : undefined;
  const beginsAttempt = asked.request === undefined;
  const isOffer = beginsAttempt || asked.artifactId !== artifactId;
  const offer = isOffer && { request: requestText(request), artifactId, nowMs };
  const changed = offer ? offered(asked, offer) : undefined;
  if (decided.decision === 'serve') {
    return { decision: 'serve', part, changed, artifactId, beginsAttempt };
  }
  const isInstalled = decided.decision === 'already-installed';
  const status = isInstalled ? 'already-installed' : 'noartifact';
  return {
    decision: 'end',
    part,
    changed: settled(changed ?? asked, status, nowMs),
    noUpdate: isInstalled
      ? installedFor(part.deployment)
      : misfitFor(part.deployment, decided.misfit),
  };
}

/** The part that is the device's turn, whatever it says of itself, or why none is. */
export function decideTurn<Part extends DescribedPart>(turn: Turn<Part>) {
  const { nowMs } = turn;
  const choice = choosePart(turn.parts, turn);
  if (choice.decision === 'nothing') {
    return { decision: choice.decision, noUpdate: whyNothing(turn) };
  }
  if (choice.decision !== 'wait') return choice;
  const { decision, part, rule } = choice;
  return { decision, part, noUpdate: new Waiting(rule, part, nowMs) };
}

function whyNothing<Part extends DescribedPart>({ newest, ...moment }: Turn<Part>): NoUpdate {
  const part = newest();
  const rule = part && keptBack(part, moment);
  return rule ? overFor(part, rule, moment.nowMs) : noDeployment;
}
