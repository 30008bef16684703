/** Why a device that asks gets no update, as the record of its poll keeps it. */
import type { Misfit } from './next-deployment.ts';
import type { Held } from './part-choice.ts';

/** The rules that say no, in the order in which they are asked. */
export type NoUpdateRule = 'deployment' | Held | Misfit['rule'] | 'already-installed';

/** The first rule that said no, and the deployment that it kept back, where there was one. */
export interface NoUpdate {
  readonly rule: NoUpdateRule;
  readonly deploymentId?: string;
}

/** No deployment is open for the device; one object for all polls, as nearly all are answered so. */
export const noDeployment: NoUpdate = Object.freeze({ rule: 'deployment' });
