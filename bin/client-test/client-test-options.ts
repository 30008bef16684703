/** The options of a client test. */
import type {
  ClientCapability,
  ClientTestResult,
} from '../../conformance/client-judge/report/client-test-result.ts';
import type { Waiver } from '../../conformance/result/waivers.ts';
import type { ClientStartOptions } from './client-testbed.ts';

/** How a client is tested, and what fails it. */
export interface ClientTestOptions extends ClientStartOptions {
  /** Names of the scenes to run; all of the schedule if empty. */
  readonly selection: readonly string[];
  /** Reasons of scenes that are not run, by name. */
  readonly skips: ReadonlyMap<string, string>;
  /** Real time for everything, in milliseconds; without it the quick test is run. */
  readonly timeMs?: number | undefined;
  readonly parallel: number;
  /** How long the first request may take, in milliseconds. */
  readonly contactMs: number;
  /** Additional time of each step of a scene besides the client's intervals, in milliseconds. */
  readonly retryMs: number;
  readonly isCut: boolean;
  /** Capabilities besides those that the client shows. */
  readonly capabilities: readonly ClientCapability[];
  /** The lowest level of a duty that fails the client test when it is broken. */
  readonly failOn: ClientTestResult['failOn'];
  readonly waivers: readonly Waiver[];
}
