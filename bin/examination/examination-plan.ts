/** What to examine. */

import type {
  ClientCapability,
  Examination,
} from '../../conformance/clients/report/examination.ts';
import type { Waiver } from '../../conformance/result/waivers.ts';
import type { ClientPlan } from './client-testbed.ts';

/** How a client is examined, and what fails it. */
export interface ExaminationPlan extends ClientPlan {
  /** Names of the scenes to play; all of the schedule if empty. */
  readonly selection: readonly string[];
  /** Reasons of scenes that are not played, by name. */
  readonly skips: ReadonlyMap<string, string>;
  /** Real time for everything, in milliseconds; without it the quick examination is played. */
  readonly timeMs?: number | undefined;
  readonly parallel: number;
  /** How long the first request may take, in milliseconds. */
  readonly contactMs: number;
  /** What each step of a scene may take besides the client's intervals, in milliseconds. */
  readonly retryMs: number;
  readonly isCut: boolean;
  /** Capabilities besides those that the client shows. */
  readonly capabilities: readonly ClientCapability[];
  /** The lowest level of a duty that fails the examination when it is broken. */
  readonly failOn: Examination['failOn'];
  readonly waivers: readonly Waiver[];
}
