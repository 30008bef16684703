/** The stage that spreads sign-ins over rounds of the event loop. */
import { startOfShortTask } from '../../fixtures/clock.ts';
import { BodyCutOff } from '../http/body.ts';
import type { Stage } from './stage.ts';

/**
 * Lets a few sign-ins start in each round, since one takes as long as ten polls, which would wait
 * for all that arrived with them. Comes before anything is read or looked up, so that nothing is
 * held meanwhile and nothing outdated. @throws BodyCutOff
 */
export const takeTurn: Stage = ({ exchange }) => {
  const { request, response, upgrade } = exchange;
  // Node keeps reading requests behind one that waits, so only the first of a connection may wait.
  const isFirst = response.socket !== null && !upgrade;
  const start = isFirst ? startOfShortTask() : undefined;
  return start?.then(() => {
    // A server that stops closes its stores before the requests on its connections are told.
    if (!request.socket.destroyed) return undefined;
    throw new BodyCutOff('the connection closed before the body was read');
  });
};
