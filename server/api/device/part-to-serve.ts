/** Which of a device's parts is served to it now. Spec: Device deployments, GET and POST next */
import type { CallingDevice, HandlerContext } from '../../pipeline/endpoint.ts';
import { retried } from '../../rules/device-deployment.ts';
import { type NoUpdate, noDeployment } from '../../rules/no-update.ts';
import { choosePart } from '../../rules/part-choice.ts';
import type { StoredPart } from '../../store/part-rows.ts';

/** What every handler of a device's operation is given. */
export type DeviceContext = HandlerContext & { readonly device: CallingDevice };

/** A part, or the rule by which there is none. */
export type PartToServe =
  | { readonly part: StoredPart; readonly noUpdate?: never }
  | { readonly part?: never; readonly noUpdate: NoUpdate };

/** When nothing at all is open for the device, its polls cost no query until something is. */
export function partToServe({ store, device, nowMs }: DeviceContext): PartToServe {
  const { parts, lastFinishedSeq } = store.parts.open(device.id);
  const choice = choosePart(parts, { nowMs, lastFinishedSeq });
  switch (choice.decision) {
    case 'nothing':
      store.parts.expectNothing(device.id);
      return { noUpdate: noDeployment };
    case 'wait': {
      const { rule, part } = choice;
      return { noUpdate: { rule, deploymentId: part.deployment.id } };
    }
    case 'retry':
      return { part: retried(choice.part) };
    default:
      return { part: choice.part };
  }
}
