/** Which instruction a device gets when it asks, or why none. Spec: Device deployments, GET and POST next */
import { type DeviceDeployment, offered, retried, settled } from './device-deployment.ts';
import {
  type Candidate,
  decideNext,
  type NextRequest,
  requestText,
  type ServablePart,
} from './next-deployment.ts';
import { type NoUpdate, noDeployment } from './no-update.ts';
import { choosePart, type PartFacts } from './part-choice.ts';

/** A device's part in a deployment, with all that an instruction depends on. */
export type InstructedPart = DeviceDeployment &
  ServablePart &
  PartFacts & { readonly deployment: { readonly id: string } };

/** A device that asks. */
export interface Asking<Part> {
  readonly request: NextRequest;
  /** Those that may still be open, in order of creation. */
  readonly parts: readonly Part[];
  /** The newest deployment that the device was offered and finished; 0 when there is none. */
  readonly lastFinishedSeq: number;
  readonly nowMs: number;
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
  const choice = choosePart(asking.parts, asking);
  if (choice.decision === 'nothing') return { decision: 'nothing', noUpdate: noDeployment };
  const { part } = choice;
  const deploymentId = part.deployment.id;
  if (choice.decision === 'wait') {
    return { decision: 'wait', part, noUpdate: { rule: choice.rule, deploymentId } };
  }
  const asked = choice.decision === 'retry' ? retried(part) : part;
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
  const { rule } = decided;
  const status = rule === 'already-installed' ? rule : 'noartifact';
  return {
    decision: 'end',
    part,
    changed: settled(changed ?? asked, status, nowMs),
    noUpdate: { rule, deploymentId },
  };
}
