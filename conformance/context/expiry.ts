/** The seconds until a time that a response names, by the target's clock. */
import { NotObservable } from '../target/expectations.ts';
import type { TestContext } from './test-context.ts';

export const MINUTE_SECONDS = 60;
/** Margin after an expiry, for the whole seconds in Date and for rounding. */
export const JUST_AFTER_SECONDS = 2;

/** Returns the seconds from the response until the time that it names. */
export function secondsUntil(
  context: TestContext,
  response: Parameters<TestContext['serverNowMs']>[0],
  time: string,
): number {
  // Earlier cases may have advanced a shared clock by an unknown time.
  if (!context.control.isolates && response.headers.date === undefined) {
    throw new NotObservable('the target sends no Date header, so its clock is unknown');
  }
  const seconds = (Date.parse(time) - context.serverNowMs(response)) / 1000;
  if (Number.isFinite(seconds) && seconds > MINUTE_SECONDS) return Math.floor(seconds);
  throw new NotObservable(`the end is at ${time}, which leaves no time to look`);
}

/** Returns the margin in seconds after an expiry; larger if the target's clock is not known. */
export function justAfter({ headers }: Parameters<TestContext['serverNowMs']>[0]): number {
  return headers.date === undefined ? MINUTE_SECONDS : JUST_AFTER_SECONDS;
}
